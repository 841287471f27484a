import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { scoreTranscript } from "../dataset/webvoyager-transcript.ts";
import type { TranscriptMessage, TranscriptScore } from "../dataset/webvoyager-transcript.ts";
import { messageOf } from "../errors.ts";
import type { FileRef, Usage } from "../trace/event.ts";
import type { Observation } from "../trace/observations.ts";
import type { ProblemList } from "./problems.ts";
import type { ImportedCheck } from "./write-app.ts";

/** The folder a WebVoyager judge left for one check. */
export interface CheckFolder {
  /** Folder that was imported. */
  readonly source: string;
  /** Relative to the source, with "/". */
  readonly path: string;
  /** Whether screenshots are read for their hashes. */
  readonly withScreenshots: boolean;
  readonly problems: ProblemList;
}

const MESSAGES = "interact_messages.json";
const LOG = "agent.log";
const MAX_BYTES = 256 * 1024 * 1024;
const NO_RULES = { legacy: "MISSING", strict: "MISSING" } as const;

const Part = z.looseObject({ type: z.string(), text: z.string().optional() });
const Message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.null(), z.array(Part)]),
});
const Messages = z.array(Message);

/** A file's bytes; null when there is none, and also, with a problem noted, when it cannot be read. */
function readBytes(folder: CheckFolder, name: string): Buffer | null {
  const file = `${folder.path}/${name}`;
  const path = join(folder.source, file);
  const fault = (text: string): null => {
    folder.problems.add({ kind: "unreadable", file, text });
    return null;
  };
  try {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined) return null;
    // Nothing of a stranger's tree is followed or waited for.
    if (!info.isFile()) return fault("is no regular file");
    if (info.size > MAX_BYTES) return fault(`is too large (${info.size} bytes)`);
    return readFileSync(path);
  } catch (error) {
    return fault(messageOf(error));
  }
}

function parseMessages(bytes: Buffer): readonly TranscriptMessage[] | string {
  let raw: unknown;
  try {
    raw = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/u, ""));
  } catch (error) {
    return `is no JSON: ${messageOf(error)}`;
  }
  const result = Messages.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return `is no list of messages: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
}

// What stands in for a verdict that the judge did not give; who failed is told by how the conversation ends.
const UNJUDGED: Readonly<Record<TranscriptScore["end"], Omit<Observation, "rules">>> = {
  answered: { verdict: "MISSING", cause: "judge_error", class: "malformed_reply" },
  forced_verdict: { verdict: "MISSING", cause: "judge_error", class: "step_budget" },
  driver_failure: { verdict: "MISSING", cause: "infra", class: "browser" },
  api_failure: { verdict: "MISSING", cause: "infra", class: "model_api" },
  empty: { verdict: "MISSING", cause: "judge_error" },
};

function ruleMessages(messages: readonly TranscriptMessage[]): Observation {
  const { legacy, strict, end } = scoreTranscript(messages);
  const rules = { legacy, strict };
  return strict === "MISSING" ? { ...UNJUDGED[end], rules } : { verdict: strict, cause: "judged", rules };
}

/** Sums what the log says of each model call; null when it says nothing. */
function usageOf(log: string): Usage | null {
  let inputTokens = 0;
  let outputTokens = 0;
  let calls = 0;
  for (const [, input, output] of log.matchAll(/Prompt Tokens: (\d{1,12}); Completion Tokens: (\d{1,12})/gu)) {
    inputTokens += Number(input);
    outputTokens += Number(output);
    calls += 1;
  }
  return calls === 0 ? null : { inputTokens, outputTokens, calls };
}

/** Whether the browser could not open the site; only what was logged before the first step says so. */
function isUnreachable(log: string): boolean {
  const beforeSteps = log.split("Iter: ", 1)[0] ?? "";
  return /net::ERR_[A-Z_]+|could not be opened/u.test(beforeSteps);
}

function ruleWithoutMessages(folder: CheckFolder, log: string | null): Observation {
  const { path, problems } = folder;
  if (log !== null && isUnreachable(log)) {
    return { verdict: "NO", cause: "app_down", class: "no_answer", rules: NO_RULES };
  }
  const text = log === null ? `has neither ${MESSAGES} nor ${LOG}` : `has no ${MESSAGES}, and its log just stops`;
  problems.add({ kind: "no_messages", file: path, text });
  return { verdict: "MISSING", cause: "judge_error", rules: NO_RULES };
}

function rule(folder: CheckFolder, bytes: Buffer | null, log: string | null): Observation {
  if (bytes === null) return ruleWithoutMessages(folder, log);
  const messages = parseMessages(bytes);
  if (typeof messages !== "string") return ruleMessages(messages);
  folder.problems.add({ kind: "damaged", file: `${folder.path}/${MESSAGES}`, text: messages });
  return { verdict: "MISSING", cause: "infra", class: "disk", rules: NO_RULES };
}

function screenshotNames({ source, path, problems }: CheckFolder): readonly string[] {
  try {
    const number = (name: string): number => Number(/\d+/u.exec(name)?.[0]);
    return readdirSync(join(source, path))
      .filter((name) => /^screenshot\d{1,6}\.png$/u.test(name))
      .sort((a, b) => number(a) - number(b));
  } catch (error) {
    problems.add({ kind: "unreadable", file: path, text: messageOf(error) });
    return [];
  }
}

function refer({ path }: CheckFolder, name: string, bytes: Buffer): FileRef {
  return { path: `${path}/${name}`, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Reads what the judge left for one check; never throws for what is missing or damaged, which becomes MISSING and a problem. */
export function readCheckFolder(folder: CheckFolder): ImportedCheck {
  const bytes = readBytes(folder, MESSAGES);
  const log = readBytes(folder, LOG)?.toString("utf8") ?? null;
  const names = folder.withScreenshots ? screenshotNames(folder) : [];
  const screenshots = names.flatMap((name) => {
    const image = readBytes(folder, name);
    return image === null ? [] : [refer(folder, name, image)];
  });
  return {
    ...rule(folder, bytes, log),
    usage: log === null ? null : usageOf(log),
    evidence: [...(bytes === null ? [] : [refer(folder, MESSAGES, bytes)]), ...screenshots],
  };
}
