import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { EvowebError } from "../errors.ts";

/** Texts of a judge's prompt files, by name, and the hash over all of them. */
export interface Prompts<Name extends string> {
  readonly texts: Readonly<Record<Name, string>>;
  /** SHA-256 (hex) over names and texts, in the order of the names; goes into the judge's hash. */
  readonly hash: string;
}

/**
 * Reads `NAME.md` for each name from a folder, such as `new URL("prompts/", import.meta.url)`; the build copies such files to
 * dist. Line ends become "\n" and the last one goes. Throws `EvowebError("bug")` when one is missing.
 */
export function loadPrompts<Name extends string>(folder: URL, names: readonly Name[]): Prompts<Name> {
  const hash = createHash("sha256");
  const texts: Partial<Record<Name, string>> = {};
  for (const name of [...names].sort()) {
    const url = new URL(`${name}.md`, folder);
    let text: string;
    try {
      text = readFileSync(url, "utf8").replaceAll("\r\n", "\n").replace(/\n$/u, "");
    } catch (error) {
      throw new EvowebError("bug", `The prompt ${url.pathname} cannot be read; reinstall or rebuild evoweb.`, {
        cause: error,
      });
    }
    hash.update(name).update("\0").update(text).update("\0");
    texts[name] = text;
  }
  return { texts: texts as Record<Name, string>, hash: hash.digest("hex") };
}

/**
 * Puts values in place of `{{name}}`. Values are not looked at again, so what a page says cannot name another value. Throws
 * `EvowebError("bug")` for a name without a value.
 */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new EvowebError("bug", `A prompt names {{${name}}}, for which there is no value.`);
    return value;
  });
}
