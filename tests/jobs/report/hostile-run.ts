import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import sharp from "sharp";
import { parseRow } from "../../../src/dataset/parse-row.ts";
import { SnapshotStore } from "../../../src/runner/snapshot-store.ts";
import { packTar } from "../../../src/runner/tar.ts";
import type { TraceFact, Verdict } from "../../../src/trace/event.ts";
import { appDirName, createRunFolder } from "../../../src/trace/run-folder.ts";
import { sampleRow } from "../../dataset/sample-row.ts";
import { five, writeTrace } from "../../report/run-fixture.ts";
import { ranRequest, SAMPLE_RUN } from "../../trace/sample-events.ts";

/** Text that would run, break out of a script or end a string, were it taken for more than text. */
export const HOSTILE =
  `</script><script>globalThis.hacked=1</script><img src=x onerror="globalThis.hacked=2">` +
  `\u2028\u2029"'\`\${globalThis.hacked=3}\\<!--]]>&lt;`;

async function* contents(files: Readonly<Record<string, string>>) {
  yield* Object.entries(files).map(([path, text]) => ({ path, mode: 0o644, bytes: Buffer.from(text) }));
}

/** Writes a run whose every text comes from an attacker: request, checks, evidence, logs, file names and files. */
export async function writeHostileRun(dir: string): Promise<void> {
  const raw = sampleRow("000001", 3);
  const labelled = {
    ...raw,
    instruction: HOSTILE,
    ui_instruct: raw.ui_instruct.map((check) => ({ ...check, task: `${check.task} ${HOSTILE}` })),
    dependency_graph: {
      ...raw.dependency_graph,
      nodes: raw.dependency_graph.nodes.map((node) => ({ ...node, label: HOSTILE })),
    },
  };
  createRunFolder(dir, { ...SAMPLE_RUN, provenance: { ...SAMPLE_RUN.provenance, agent: { name: HOSTILE } } }, [
    { sampleIndex: 1, row: parseRow(labelled) },
  ]);
  const app = join(dir, appDirName(1));
  mkdirSync(app, { recursive: true });
  const store = await SnapshotStore.open(join(app, "workspace.git"));
  const shas: string[] = [];
  for (const request of [1, 2, 3]) {
    const files = {
      [`a "quoted" <b>${request}</b> 'name' & \u2028.txt`]: HOSTILE,
      "app.js": `// ${request}\n${HOSTILE}\n`,
    };
    shas.push((await store.commit(request, 1, Readable.from(packTar(contents(files))))).sha);
  }
  const facts = [1, 2, 3].flatMap((request) => {
    const verdicts: Verdict[] = request === 1 ? [...five("YES"), "YES"] : [...five("YES").slice(0, 4), "NO"];
    mkdirSync(join(app, `request-0${request}`, "checks"), { recursive: true });
    writeFileSync(join(app, `request-0${request}`, "app.log"), HOSTILE);
    return ranRequest(request, verdicts).map((fact) => withEvidence(fact, request, shas[request - 1] ?? ""));
  });
  const picture = await sharp({ create: { width: 64, height: 40, channels: 3, background: "#336699" } })
    .webp()
    .toBuffer();
  writeFileSync(join(app, "shot.webp"), picture);
  writeFileSync(join(app, "evidence.json"), JSON.stringify({ points: [{ point: HOSTILE, met: false, saw: HOSTILE }] }));
  writeFileSync(join(app, "steps.jsonl"), `${JSON.stringify({ kind: "step", atMs: 1, text: HOSTILE })}\nbroken line\n`);
  writeTrace(dir, 1, facts);

  function withEvidence(fact: TraceFact, request: number, sha: string): TraceFact {
    if (fact.type === "workspace_committed") return { ...fact, sha };
    if (fact.type !== "check_judged") return fact;
    const ref = (path: string) => ({ path, sha256: createHash("sha256").update(`${path}${request}`).digest("hex") });
    // The last two must neither be followed nor written.
    const paths = ["evidence.json", "steps.jsonl", "shot.webp", "../../../../etc/passwd.png", "missing.webp"];
    return { ...fact, evidence: [...paths.map(ref), { path: "shot.webp", sha256: "../../escaped" }] };
  }
}
