import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { calibrationLine } from "../../src/jobs/calibration-line.ts";
import { SAMPLE_RUN } from "../trace/sample-events.ts";

it("names the largest calibration of the run's judge and browser, or says that there is none", () => {
  const dir = mkdtempSync(join(tmpdir(), "evoweb-calibration-"));
  try {
    expect(calibrationLine(SAMPLE_RUN, dir)).toContain("none in");
    const write = (name: string, checks: number, hash: string): void => {
      const judge = { name: "oracle", hash, browser: null };
      writeFileSync(
        join(dir, name),
        JSON.stringify({ judge, checks, falseYes: { rate: 0.25 }, falseNo: { rate: null } }),
      );
    };
    write("a.json", 8, "0");
    write("b.json", 4, "0");
    write("c.json", 99, "other");
    expect(calibrationLine(SAMPLE_RUN, dir)).toBe(
      `Calibration  ${join(dir, "a.json")}: false YES 25.0%, false NO n/a over 8 checks`,
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});
