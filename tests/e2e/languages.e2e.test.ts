import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { evoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-languages-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Keeps both ways in which a request arrives, one under a name in its own script.
const KEEP = 'cat > "stdin-$EVOWEB_REQUEST" && cp "$EVOWEB_REQUEST_FILE" "שלום-नमस्ते-$EVOWEB_REQUEST"';

test.each(["hi", "he"])(
  "requests in %s reach the agent, the snapshots and the run folder byte for byte",
  async (split) => {
    const args = ["run", "--split", split, "--apps", "1", "--requests", "2", "--agent", "command", "--command", KEEP];
    const run = await evoweb([...args, "--sandbox", "local", "--judge", "none", "--json", "--out", split], {
      cwd: folder,
    });
    expect(run.stderr).toContain("agent command");
    const { rows } = await openDataset("evoweb-mini", { split });
    const texts = (rows[0]?.requests ?? []).slice(0, 2).map(({ instruction }) => instruction);
    const repository = join(folder, split, "app-0001/workspace.git");
    for (const [index, text] of texts.entries()) {
      for (const name of [`stdin-${index + 1}`, `שלום-नमस्ते-${index + 1}`]) {
        const kept = spawnSync("git", ["-C", repository, "show", `request-0${index + 1}:${name}`]).stdout;
        expect(kept).toEqual(Buffer.from(text));
      }
    }
    const score = await evoweb(["score", split], { cwd: folder });
    expect(score.stdout).toContain(`evoweb-mini, split ${split}`);
    const stored = await readFile(join(folder, split, "rows.jsonl"), "utf8");
    for (const text of texts) expect(stored).toContain(JSON.stringify(text));
    const { provenance } = JSON.parse(await readFile(join(folder, split, "run.json"), "utf8")) as {
      readonly provenance: { readonly dataset: unknown };
    };
    expect(provenance.dataset).toMatchObject({ name: "evoweb-mini", config: "multilingual", split, revision: null });
  },
);

test("the solution reaches 100 on a translated split, with the same oracles", async () => {
  const args = ["run", "--split", "he", "--apps", "1", "--requests", "2", "--sandbox", "local", "--json"];
  const { stdout, code } = await evoweb([...args, "--out", "replayed"], { cwd: folder });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ run: { grade: 100, complete: true } });
});
