import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scoreDocuments } from "../../src/report/score-json.ts";
import { scorePaths } from "../../src/report/score-source.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each(["forgetful", "crash-on-start"])(
  "the golden run %s scores to the same bytes as on the day it was run",
  async (name) => {
    const folder = `${root}traces/${name}`;
    const text = `${JSON.stringify(scoreDocuments(await scorePaths([folder])))}\n`;
    expect(text).toBe(readFileSync(`${folder}/scores.json`, "utf8"));
  },
);
