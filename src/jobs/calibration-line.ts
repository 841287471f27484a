import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { RunJson } from "../trace/run-json.ts";

const rate = z.number().nullable();
const Stored = z.looseObject({
  judge: z.looseObject({ name: z.string(), hash: z.string(), browser: z.string().nullable() }),
  checks: z.int(),
  falseYes: z.looseObject({ rate }),
  falseNo: z.looseObject({ rate }),
});

const percent = (value: number | null): string => (value === null ? "n/a" : `${(100 * value).toFixed(1)}%`);

/** Says which stored calibration (a file, or the largest in a folder) belongs to a run's judge and browser, or that there is none. */
export function calibrationLine({ provenance }: RunJson, where: string): string {
  const { judge, browser } = provenance;
  if (judge === null) return "Calibration  none: the run has no judge";
  const isFolder = existsSync(where) && statSync(where).isDirectory();
  const names = isFolder ? readdirSync(where).filter((name) => name.endsWith(".json")) : [];
  const files = isFolder ? names.map((name) => join(where, name)) : [where].filter(existsSync);
  const [best] = files
    .flatMap((file) => {
      const { data } = Stored.safeParse(JSON.parse(readFileSync(file, "utf8")));
      return data === undefined ? [] : [{ file, ...data }];
    })
    .filter((one) => one.judge.hash === judge.hash && one.judge.name === judge.name)
    .filter((one) => one.judge.browser === (browser?.version ?? null))
    .toSorted((a, b) => b.checks - a.checks);
  if (best === undefined) return `Calibration  none in ${where} for judge ${judge.name} with this browser`;
  return `Calibration  ${best.file}: false YES ${percent(best.falseYes.rate)}, false NO ${percent(best.falseNo.rate)} over ${best.checks} checks`;
}
