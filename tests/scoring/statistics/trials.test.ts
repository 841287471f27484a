import { jStat } from "jstat";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { passAtK, summariseTrials } from "../../../src/scoring/statistics/trials.ts";
import type { Trials } from "../../../src/scoring/statistics/trials.ts";

interface Line {
  readonly app_id: string;
  readonly status: "passed" | "failed" | "harness_error";
}

function readTrials(): Trials[] {
  const text = readFileSync(new URL("../../fixtures/trials.jsonl", import.meta.url), "utf8");
  const apps = new Map<string, (boolean | null)[]>();
  for (const line of text.trimEnd().split("\n")) {
    const { app_id: app, status } = JSON.parse(line) as Line;
    const passed = apps.get(app) ?? [];
    passed.push(status === "harness_error" ? null : status === "passed");
    apps.set(app, passed);
  }
  return [...apps].map(([app, passed]) => ({ app, passed }));
}

describe("five apps of three trials, three of which were lost to the harness", () => {
  const summary = summariseTrials(readTrials(), 3);

  it("counts the apps with three decided trials and names the others", () => {
    expect(summary).toMatchObject({ planned: 3, missing: 3, leftOut: ["app-3", "app-5"] });
    expect(summary.byK.map(({ k, apps }) => [k, apps])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it("pass@1 is 2/3, pass@3 is 1 and pass^3 is 1/3", () => {
    expect(summary.byK[0]?.passAtK).toBeCloseTo(2 / 3, 12);
    expect(summary.avgAtK).toBeCloseTo(2 / 3, 12);
    expect(summary.byK[2]?.passAtK).toBe(1);
    expect(summary.byK[2]?.passHatK).toBeCloseTo(1 / 3, 12);
  });

  it("pass@5 is not available, which is neither 0 nor pass@3", () => {
    expect(passAtK(readTrials(), 3, 5)).toEqual({ k: 5, passAtK: null, passHatK: null, apps: 0 });
  });
});

describe("pass@k", () => {
  it("of a single trial knows no k = 2", () => {
    expect(passAtK([{ app: "1", passed: [true] }], 1, 2)).toMatchObject({ passAtK: null, passHatK: null });
  });

  it("is 1 - C(n-c,k)/C(n,k), and pass^k is C(c,k)/C(n,k)", () => {
    for (let passes = 0; passes <= 6; passes += 1) {
      const passed = Array.from({ length: 6 }, (_, index) => index < passes);
      for (let k = 1; k <= 6; k += 1) {
        const result = passAtK([{ app: "1", passed }], 6, k);
        const ofAll = jStat.combination(6, k);
        const noneOf = 6 - passes < k ? 0 : jStat.combination(6 - passes, k);
        expect(result.passAtK).toBeCloseTo(1 - noneOf / ofAll, 12);
        expect(result.passHatK).toBeCloseTo((passes < k ? 0 : jStat.combination(passes, k)) / ofAll, 12);
      }
    }
  });
});
