import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TreeJudge } from "./judge-tree.ts";
import { describeOutcome, listAll, neverFailing, pickForCi, prove } from "./truth.ts";

const executable = process.env["EVOWEB_CHROMIUM"] ?? "/usr/bin/chromium-headless-shell";
const isMissing = !existsSync(executable) && process.env["CI"] === undefined;
const { rows, statements } = await listAll();

describe.skipIf(isMissing)("ground truth of evoweb-mini", () => {
  let judge: TreeJudge;
  beforeAll(async () => {
    judge = await TreeJudge.open(executable, 3);
  });
  afterAll(async () => {
    await judge[Symbol.asyncDispose]();
  });

  test.each(rows)(
    "$id: mutants change the checks they name, three others hold, and every check can fail",
    async (row) => {
      const picked = pickForCi(statements).filter((one) => one.rowId === row.id);
      const outcomes = await Promise.all(picked.map((one) => prove(judge, one)));
      const wrong = outcomes.filter((one) => !one.holds).map(describeOutcome);
      expect(wrong).toEqual([]);
      expect(neverFailing(row, outcomes)).toEqual([]);
    },
  );
});
