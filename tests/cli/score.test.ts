import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { five, writeRun } from "../report/run-fixture.ts";
import { tinyRows } from "../trace/sample-events.ts";
import { temporaryFolder } from "../trace/temporary-folder.ts";

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
const tsx = new URL("../../node_modules/tsx/dist/cli.mjs", import.meta.url).pathname;

function evoweb(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [tsx, main, ...words], { encoding: "utf8", timeout: 60_000 });
}

describe("evoweb score", { timeout: 120_000 }, () => {
  it("exits 0 with one JSON document, the same each time", () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(1, 2), [[five("YES"), five("YES")]]);
    const [first, second] = [evoweb("score", dir, "--json"), evoweb("score", dir, "--json")];
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(first.stdout)).toMatchObject({ definition: "v1", run: { grade: 100, survival: 2 } });
    expect(second.stdout).toBe(first.stdout);
  });

  it("exits 3 for an incomplete run, 2 for wrong usage, and says why", () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(2, 1), [[five("YES")], null]);
    const incomplete = evoweb("score", dir);
    expect(incomplete.status).toBe(3);
    expect(incomplete.stdout).toContain("1 of 2 requests ran; missing: app 2");
    const absent = evoweb("score", join(folder.path, "absent"));
    expect(absent).toMatchObject({ status: 2, stdout: "" });
    expect(absent.stderr).toMatch(/^evoweb: there is no /);
  });

  it("ends in peace when who reads it stops reading", () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(1, 1), [[five("YES")]]);
    const command = `"${process.execPath}" "${tsx}" "${main}" score "${dir}" | true; echo "code \${PIPESTATUS[0]}"`;
    const piped = spawnSync("/bin/bash", ["-c", command], { encoding: "utf8", timeout: 60_000 });
    expect(piped).toMatchObject({ stdout: "code 0\n", stderr: "" });
  });
});
