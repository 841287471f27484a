import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIMIT_TEXT } from "../dataset/webvoyager-transcript.ts";
import { EvowebError, messageOf } from "../errors.ts";
import type { Observation } from "../trace/observations.ts";
import type { RunFolder } from "../trace/run-folder.ts";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const asked: Message = {
  role: "user",
  content: "Now given a task: (exported)  Please interact with (exported) and get the answer.",
};
const reply = (content: string): Message => ({ role: "assistant", content });

/** A conversation that both rules read as they read the original one; null when there was none. */
function messagesOf({ verdict, rules }: Observation): readonly Message[] | null {
  const legacy = rules?.["legacy"] ?? verdict;
  const strict = rules?.["strict"] ?? verdict;
  if (legacy === "MISSING") return null;
  const thought = `Thought: exported from a run; the published rule read ${legacy}.`;
  const ask: Message = { role: "user", content: LIMIT_TEXT };
  if (strict === "MISSING") return [asked, reply(`${thought}\nAction: Wait`), asked];
  if (legacy === strict) return [asked, reply(`Thought: exported from a run.\nAction: ANSWER; ${strict}`)];
  return [asked, ask, reply(`${thought}\nAction: ANSWER; ${strict}`)];
}

function writeCheck(dir: string, seen: Observation): void {
  mkdirSync(dir, { recursive: true });
  const messages = messagesOf(seen);
  if (messages !== null) writeFileSync(join(dir, "interact_messages.json"), JSON.stringify(messages), { flag: "wx" });
  const isDown = messages === null && seen.cause === "app_down";
  writeFileSync(join(dir, "agent.log"), isDown ? "exported: the site could not be opened\n" : "exported\n", {
    flag: "wx",
  });
}

/**
 * Writes a run as a tree of check folders, as `evoweb import webvoyager` (runs of one request) or `webvoyager-sequence` reads it; apps
 * are numbered by their sample index. The conversations are made up; only what the two rules read in them is the run's. Throws `io`.
 */
export function writeWebgenLayout({ rows, apps }: RunFolder, dir: string): void {
  const isSequence = rows.some(({ row }) => row.requests.length > 1);
  try {
    mkdirSync(dir);
    for (const { sampleIndex } of rows) {
      for (const [request, { checks }] of apps.get(sampleIndex)?.observations.requests ?? []) {
        const results = isSequence ? join(dir, `request-${request}`, "results") : join(dir, "results");
        for (const [check, seen] of checks) {
          if (seen.cause !== "not_reached")
            writeCheck(join(results, `taskworkspace_${sampleIndex - 1}_${check}`), seen);
        }
      }
    }
  } catch (error) {
    throw new EvowebError("io", `cannot write ${dir}: ${messageOf(error)}. Name a new folder with --out.`, {
      cause: error,
    });
  }
}
