import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatDuration, formatRanges, formatRatio } from "../../src/report/format.ts";
import { scorePaths } from "../../src/report/score-source.ts";
import { renderScore } from "../../src/report/score-table.ts";

const vectors = new URL("../fixtures/vectors/", import.meta.url).pathname;

describe("the score table", () => {
  it("fits into 100 columns and holds no colours without a terminal", async () => {
    const [source] = await scorePaths([join(vectors, "verdicts.jsonl")], join(vectors, "rows.jsonl"));
    if (source === undefined) throw new Error("nothing was scored");
    const lines = renderScore({ ...source, path: "verdicts.jsonl" }, { useColor: false }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.join("\n")).not.toContain("\u001b");
    expect(renderScore(source, { useColor: true })).toContain("\u001b[");
    const apps = lines.slice(lines.findIndex((line) => line.startsWith("  app  row")));
    expect(apps.slice(0, 9).join("\n")).toMatchInlineSnapshot(`
      "  app  row      Grade  lo..hi          Survival  lo..hi  APR        lo..hi    br         lo..hi
          1  000001  100.00  100.00..100.00     10/10  10..10  9/9        9/9..9/9  9/9        9/9..9/9
          2  000002   79.17  76.67..79.17        3/10  3..3    0/3        0/3..1/4  4/6        4/7..5/7
          3  000003    0.00  0.00..0.00          0/10  0..0    n/a (0/0)  0/0..0/0  n/a (0/0)  0/0..0/0
          4  000004    0.00  0.00..0.00          9/10  9..9    8/9        8/9..8/9  8/9        8/9..8/9
          5  000005   40.00  0.00..100.00        4/10  4..10   3/3        3/3..3/3  3/3        3/4..9/9
          6  000006   62.50  62.50..62.50         0/1  0..0    n/a (0/0)  0/0..0/0  n/a (0/0)  0/0..0/0
          7  000007   72.50  64.58..78.75        3/10  3..3    0/3        0/3..1/4  4/6        4/7..5/7
          8  000008   98.33  98.33..98.33       10/10  10..10  6/7        6/7..6/7  8/9        8/9..8/9"
    `);
  });
});

describe("numbers for people", () => {
  it("a ratio of nothing is not applicable", () => {
    expect([formatRatio([0, 0]), formatRatio([0, 3]), formatRatio([5, 7])]).toEqual([
      "n/a (0/0)",
      "0.0% (0/3)",
      "71.4% (5/7)",
    ]);
  });

  it("ranges and durations", () => {
    expect(formatRanges([7, 1, 3, 8, 2])).toBe("1-3, 7, 8");
    expect([250, 45_000, 360_000, 5_430_000].map(formatDuration)).toEqual(["0.3s", "45s", "6m 00s", "1h 30m"]);
  });
});
