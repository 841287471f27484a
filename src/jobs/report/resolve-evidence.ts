import { realpathSync, statSync } from "node:fs";
import { resolve, sep } from "node:path";

/** The file that a trace names, or null when it is not there or lies outside of `dir`: a trace may come from anywhere. */
export function resolveEvidence(dir: string, path: string): string | null {
  try {
    const root = realpathSync(dir);
    const file = realpathSync(resolve(root, path));
    return file.startsWith(root + sep) && statSync(file).isFile() ? file : null;
  } catch {
    return null;
  }
}
