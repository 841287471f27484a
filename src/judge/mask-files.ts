import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const TEXT = new TextDecoder("utf-8", { fatal: true });

/** Masks secrets in those of the files that are text, such as what the page offered as a download; others stay as they are. */
export async function maskFiles(
  folder: string,
  names: readonly string[],
  mask: (text: string) => string,
): Promise<void> {
  for (const name of names) {
    const path = join(folder, name);
    const text = textOf(await readFile(path));
    const masked = text === null ? null : mask(text);
    if (masked !== null && masked !== text) await writeFile(path, masked);
  }
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return TEXT.decode(bytes);
  } catch {
    return null;
  }
}
