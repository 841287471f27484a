import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { EvowebError, messageOf } from "../errors.ts";
import type { Split } from "./choose-split.ts";

/** A translation of a folder's rows; null is the rows as they are. */
export interface Translation extends Split {
  readonly file: string | null;
}

// The texts of request 1, 2, ... by row id.
const Texts = z.record(z.string(), z.array(z.string().min(1)));
const Translatable = z.looseObject({
  id: z.string(),
  instruction: z.string(),
  follow_ups: z.array(z.looseObject({})).optional(),
});

/** The splits of a folder: its rows (`default`, `test`) and a split of `multilingual` for each file in `translations/`. */
export async function findTranslations(dir: string): Promise<readonly Translation[]> {
  const folder = path.join(dir, "translations");
  const names = await readdir(folder).catch(() => []);
  const translated = names
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ config: "multilingual", split: name.slice(0, -5), file: path.join(folder, name) }));
  return [{ config: "default", split: "test", file: null }, ...translated];
}

/**
 * A function that puts the texts of a translation in the place of a raw row's requests and leaves everything else.
 *
 * @throws EvowebError `dataset` when the file is no such list; the function, when it does not fit the row.
 */
export async function readTranslation(file: string): Promise<(raw: unknown) => unknown> {
  const texts = await readTexts(file);
  return (raw) => {
    const row = Translatable.safeParse(raw).data;
    if (row === undefined) return raw;
    const [first, ...others] = texts[row.id] ?? [];
    const followUps = row.follow_ups ?? [];
    if (first === undefined || others.length !== followUps.length) {
      const has = texts[row.id]?.length ?? 0;
      throw new EvowebError(
        "dataset",
        `${file} has ${has} texts for the ${followUps.length + 1} requests of row ${row.id}`,
      );
    }
    const follow_ups = followUps.map((followUp, index) => ({ ...followUp, instruction: others[index] }));
    return { ...row, instruction: first, ...(row.follow_ups === undefined ? {} : { follow_ups }) };
  };
}

async function readTexts(file: string): Promise<z.infer<typeof Texts>> {
  try {
    return Texts.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new EvowebError("dataset", `the translation ${file} cannot be read: ${why}`, { cause: error });
  }
}
