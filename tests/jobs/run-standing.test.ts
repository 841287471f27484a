import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasMissing, isRunFinished, readStanding } from "../../src/jobs/run-standing.ts";
import { lockRunFolder } from "../../src/runner/run-lock.ts";

const now = new Date("2026-12-01T00:00:00Z");

test("status counts verdicts and requests of a run folder and names who writes it", () => {
  const dir = mkdtempSync(join(tmpdir(), "evoweb-standing-"));
  try {
    cpSync(new URL("../../traces/forgetful/", import.meta.url), dir, { recursive: true });
    const done = readStanding(dir, now);
    expect(done).toMatchObject({ kind: "run", holder: null });
    expect(done.runs[0]).toMatchObject({ etaMs: null, holder: null });
    expect({ isFinished: isRunFinished(dir), hasMissing: hasMissing(dir) }).toMatchInlineSnapshot(`
      {
        "hasMissing": false,
        "isFinished": true,
      }
    `);
    const { finishedRequests, requests, verdicts, state } = done.runs[0] ?? {};
    expect({ finishedRequests, requests, verdicts, state }).toMatchInlineSnapshot(`
      {
        "finishedRequests": 20,
        "requests": 20,
        "state": "finished",
        "verdicts": {
          "NO": 4,
          "PARTIAL": 10,
          "YES": 88,
        },
      }
    `);
    using _ = lockRunFolder(dir);
    expect(readStanding(dir, now)).toMatchObject({ holder: { pid: process.pid }, runs: [{ state: "running" }] });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a folder that is neither run nor sweep is refused", () => {
  expect(() => readStanding(tmpdir(), now)).toThrow("holds neither a run nor a sweep");
});
