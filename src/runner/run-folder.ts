import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError, messageOf } from "../errors.ts";
import { createRunFolder, openRunEvents } from "../trace/run-folder.ts";
import type { Mask } from "../trace/mask.ts";
import type { RunJson } from "../trace/run-json.ts";
import type { RunOptions } from "./options.ts";
import { lockRunFolder } from "./run-lock.ts";

/** The folder of a run while this process writes it. */
export interface OpenRun extends Disposable {
  readonly dir: string;
  /** Waits for every app, then notes in events.jsonl how the run ended; the first fault is thrown. */
  whileOpen(apps: readonly Promise<void>[]): Promise<void>;
}

/** What decides which folder it is. */
export interface WhichFolder {
  readonly out?: string;
  readonly resume?: string;
}

/** What a run folder starts with. */
export interface RunPlan {
  /** Content of run.json. */
  readonly description: RunJson;
  readonly rows: readonly SampledRow[];
  readonly options: RunOptions;
  readonly mask: Mask;
  /** How many apps go at a time in this start, and from what it was chosen. */
  readonly pace: Readonly<Record<string, unknown>>;
}

/** Makes the folder of a new run, or claims the one to go on with. No two living processes write one folder. */
export function openRun({ out, resume }: WhichFolder, plan: RunPlan): OpenRun {
  const { description, rows, options, mask, pace } = plan;
  const dir = resume ?? out ?? join("runs", description.runId);
  if (resume === undefined) createRunFolder(dir, JSON.parse(mask(JSON.stringify(description))) as RunJson, rows);
  const lock = lockRunFolder(dir);
  const events = openRunEvents(dir, mask);
  const { checksAtOnce } = options;
  events.append({ type: "run_started", owner: { ...lock.owner }, options: { ...pace, checksAtOnce } });
  return {
    dir,
    async whileOpen(apps) {
      const failed = (await Promise.allSettled(apps)).find((app) => app.status === "rejected");
      if (failed === undefined) {
        events.append({ type: "run_finished" });
        return;
      }
      const code = failed.reason instanceof EvowebError ? failed.reason.code : "bug";
      events.append({ type: "run_failed", code, message: messageOf(failed.reason) });
      throw failed.reason;
    },
    [Symbol.dispose]() {
      events[Symbol.dispose]();
      lock[Symbol.dispose]();
    },
  };
}

/** Name of a new run. The time says when, the random part keeps two runs of the same second apart. */
export function newRunId(agent: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/gu, "").replace("T", "-");
  return `${stamp}-${agent.replaceAll(/[^a-z0-9]+/giu, "-")}-${randomBytes(3).toString("hex")}`;
}
