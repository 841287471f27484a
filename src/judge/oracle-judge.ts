import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { errors, type Page } from "playwright";
import { z } from "zod";
import { hashFolders } from "../dataset/hash-folders.ts";
import { EvowebError, messageOf } from "../errors.ts";
import { settledWithin } from "./browser-process.ts";
import type { BrowserSession } from "./browser-session.ts";
import type { CheckResult, Evidence, Judge, JudgeTask, PointResult } from "./judge.ts";
import { PageDidNotOpen } from "./open-page.ts";
import { cut } from "./page-notes.ts";

const MAX_POINTS = 50;
const MAX_SAW = 500;

/** What an oracle may use. */
export interface OracleTools {
  readonly page: Page;
  /** The address to open, such as "http://localhost:5173/". */
  readonly url: string;
  /** Stops the app and starts it again on the same data; resolves with its address. */
  restart(): Promise<string>;
}

/** An executable check of a dataset: looks at the app as a user would and states what it saw, point by point. */
export type Oracle = (request: number, index: number, tools: OracleTools) => Promise<readonly PointResult[]>;

const Points = z
  .array(z.object({ point: z.string(), met: z.boolean(), saw: z.string() }))
  .min(1)
  .max(MAX_POINTS);

/** Where the oracles of a dataset are. */
export interface OracleJudgeOptions {
  readonly rowIds: readonly string[];
  /** Path of the row's oracle module; null when the row has none. */
  oraclePath(rowId: string): string | null;
}

/** The app did not come up again after the oracle asked for a restart. */
class AppDidNotRestart extends Error {}

async function loadOracle(path: string): Promise<Oracle> {
  const module = (await import(pathToFileURL(path).href)) as { check?: unknown };
  if (typeof module.check !== "function") {
    throw new EvowebError("dataset", `${path} exports no function "check"; an oracle must.`);
  }
  return module.check as Oracle;
}

/** What went wrong in an oracle, as a point that was not met (the app is at fault) or as a fault of the judge. */
function blame(error: unknown): Pick<Evidence, "points" | "fault"> {
  const unmet = (point: string): Pick<Evidence, "points"> => ({
    points: [{ point, met: false, saw: cut(messageOf(error), MAX_SAW) }],
  });
  if (error instanceof PageDidNotOpen) return unmet("the page opens");
  if (error instanceof AppDidNotRestart) return unmet("the app starts again on its data");
  // The oracle does what a user would do; what cannot be done within the limit of an action is not there.
  if (error instanceof errors.TimeoutError) return unmet("the steps of the check can be done");
  return { points: [], fault: { class: "oracle_error", text: cut(messageOf(error), MAX_SAW) } };
}

async function observe(oracle: Oracle, task: JudgeTask, session: BrowserSession): Promise<Evidence> {
  const restart = async (): Promise<string> => {
    try {
      return await task.restart();
    } catch (error) {
      if (error instanceof EvowebError) throw error;
      throw new AppDidNotRestart(messageOf(error), { cause: error });
    } finally {
      session.note("restarted the app");
    }
  };
  const tools: OracleTools = { page: session.page, url: task.target.url, restart };
  const common = (): Pick<Evidence, "files" | "browserMs"> => ({
    files: session.files(),
    browserMs: session.browserMs(),
  });
  let said: unknown;
  try {
    said = await oracle(task.request, task.checkIndex, tools);
  } catch (error) {
    if (error instanceof EvowebError) throw error;
    const blamed = blame(error);
    // A browser or page that dies rejects its calls a moment before it is known to be gone.
    if (blamed.fault !== undefined) await settledWithin(session.ended, 500);
    if (session.end !== undefined) throw error;
    return { ...blamed, ...common() };
  }
  const points = Points.safeParse(said);
  if (!points.success) {
    const text = cut(`the oracle gave no list of points: ${points.error.message}`, MAX_SAW);
    return { points: [], fault: { class: "malformed_reply", text }, ...common() };
  }
  return { points: points.data.map((point) => ({ ...point, saw: cut(point.saw, MAX_SAW) })), ...common() };
}

/** All points met: YES; some: PARTIAL; none: NO; nothing observed: MISSING. */
function ruleOn({ points, fault }: Evidence): CheckResult {
  if (fault !== undefined) return { verdict: "MISSING", cause: fault.cause ?? "judge_error", class: fault.class };
  if (points.length === 0) return { verdict: "MISSING", cause: "judge_error", class: "malformed_reply" };
  const met = points.filter((point) => point.met).length;
  if (met === points.length) return { verdict: "YES", cause: "judged" };
  return { verdict: met === 0 ? "NO" : "PARTIAL", cause: "judged", class: "wrong_behaviour" };
}

/**
 * A judge that runs a dataset's executable checks. Modules are loaded once each; the hash covers every file beside them.
 * Throws `EvowebError("dataset")` when a module cannot be loaded.
 */
export async function createOracleJudge(options: OracleJudgeOptions): Promise<Judge> {
  const oracles = new Map<string, Oracle>();
  const folders = new Set<string>();
  for (const rowId of options.rowIds) {
    const path = options.oraclePath(rowId);
    if (path === null) continue;
    folders.add(dirname(path));
    try {
      oracles.set(rowId, await loadOracle(path));
    } catch (error) {
      if (error instanceof EvowebError) throw error;
      const what = `The oracle of row ${rowId} (${path}) cannot be loaded: ${messageOf(error)}`;
      throw new EvowebError("dataset", what, { cause: error });
    }
  }
  return {
    name: "oracle",
    hash: await hashFolders([...folders]),
    canJudge: (rowId) => oracles.has(rowId),
    observe: async (task, session) => {
      const oracle = oracles.get(task.rowId);
      if (oracle === undefined) throw new EvowebError("bug", `Row ${task.rowId} has no oracle; ask canJudge first.`);
      return observe(oracle, task, session);
    },
    timeoutMs: 60_000,
    rule: ({ evidence }) => Promise.resolve(ruleOn(evidence)),
  };
}
