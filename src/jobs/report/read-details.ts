import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { EvowebError } from "../../errors.ts";
import type { AppStory, Judged, RequestStory } from "../../report/app-story.ts";
import type { CheckDetail, RequestDetail } from "../../report/page/model.ts";
import { snapshotDir } from "../../runner/open-app-judging.ts";
import { diffSnapshots, type SnapshotDiff } from "../../runner/snapshot-diff.ts";
import { SnapshotStore } from "../../runner/snapshot-store.ts";
import { resolveEvidence } from "./resolve-evidence.ts";

// What a person reads of one log; its end says most.
const LOG_BYTES = 64 * 1024;
const EVIDENCE_BYTES = 4 * 1024 * 1024;
const TEXT_CHARS = 2000;
const MAX_STEPS = 500;
const LOGS = ["agent.log", "install.log", "build.log", "app.log"];

/** Reads what the pages of an app load on demand, request by request. */
export async function* readDetails(
  dir: string,
  { requests }: AppStory,
): AsyncGenerator<{ readonly request: number; readonly detail: RequestDetail }> {
  const repository = snapshotDir(dir);
  const store = existsSync(repository) ? await SnapshotStore.open(repository) : null;
  let before: string | null = null;
  for (const story of requests) {
    const after = story.snapshot?.sha ?? null;
    const diff = store === null || after === null ? null : await diffIfAny(store, { from: before, to: after });
    before = after ?? before;
    const checks = [...story.checks].map(([check, judged]) => [check, readCheck(dir, judged)] as const);
    yield { request: story.number, detail: { diff, logs: readLogs(dir, story), checks: Object.fromEntries(checks) } };
  }
}

/** Null for a snapshot that is not in the repository, as when only a part of a run was copied. */
async function diffIfAny(
  store: SnapshotStore,
  between: { readonly from: string | null; readonly to: string },
): Promise<SnapshotDiff | null> {
  try {
    return await diffSnapshots(store, between);
  } catch (error) {
    if (error instanceof EvowebError && error.code === "git") return null;
    throw error;
  }
}

function readLogs(dir: string, { number }: RequestStory): { name: string; text: string }[] {
  return LOGS.flatMap((name) => {
    const path = resolveEvidence(dir, join(`request-${String(number).padStart(2, "0")}`, name));
    const text = path === null ? "" : readEnd(path);
    return text === "" ? [] : [{ name, text }];
  });
}

function readEnd(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const length = Math.min(size, LOG_BYTES);
    const buffer = Buffer.alloc(length);
    readSync(fd, buffer, 0, length, size - length);
    return `${size > length ? `(${size - length} bytes before this are left out)\n` : ""}${buffer.toString("utf8")}`;
  } finally {
    closeSync(fd);
  }
}

const cut = (text: string): string => (text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text);

const Points = z.object({ points: z.array(z.object({ point: z.string(), met: z.boolean(), saw: z.string() })) });
const Step = z.object({ kind: z.literal("step"), text: z.string(), atMs: z.number().optional() });

function readCheck(dir: string, { evidence }: Judged): CheckDetail {
  const find = (name: string): string | null => {
    const ref = evidence.find(({ path }) => basename(path) === name);
    const path = ref === undefined ? null : resolveEvidence(dir, ref.path);
    if (path === null) return null;
    const text = readFileSync(path, "utf8");
    return text.length > EVIDENCE_BYTES ? null : text;
  };
  const points = Points.safeParse(parse(find("evidence.json") ?? ""));
  const steps = (find("steps.jsonl") ?? "").split("\n").flatMap((line) => {
    const step = Step.safeParse(parse(line));
    if (!step.success) return [];
    const { atMs, text } = step.data;
    return [`${atMs === undefined ? "" : `${String(atMs).padStart(6)} ms  `}${cut(text)}`];
  });
  return {
    points: points.success ? points.data.points.map((point) => ({ ...point, saw: cut(point.saw) })) : [],
    steps: steps.slice(0, MAX_STEPS),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
