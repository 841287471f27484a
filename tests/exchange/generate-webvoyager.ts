import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseRow } from "../../src/dataset/parse-row.ts";
import type { SampledRow } from "../../src/dataset/row.ts";
import { LIMIT_TEXT } from "../../src/dataset/webvoyager-transcript.ts";

/** How the check folder of a generated run ended; `absent` leaves no folder. */
export const END_STATES = [
  "answer_yes",
  "answer_partial",
  "answer_no",
  "answer_no_word",
  "no_that_says_yes",
  "forced_yes",
  "forced_silent",
  "driver_failure",
  "api_failure",
  "empty",
  "unreachable",
  "log_stops",
  "no_files",
  "damaged",
  "wrong_shape",
  "absent",
] as const;
export type EndState = (typeof END_STATES)[number];

/** What the published scoring makes of each, and what the strict rule makes of it. */
export const EXPECTED: Readonly<Record<EndState, readonly [legacy: string, strict: string]>> = {
  answer_yes: ["yes", "yes"],
  answer_partial: ["partial", "partial"],
  answer_no: ["no", "no"],
  answer_no_word: ["no", "unjudged"],
  no_that_says_yes: ["yes", "no"],
  forced_yes: ["yes", "yes"],
  forced_silent: ["no", "unjudged"],
  driver_failure: ["no", "unjudged"],
  api_failure: ["no", "unjudged"],
  empty: ["no", "unjudged"],
  unreachable: ["startFailed", "startFailed"],
  log_stops: ["startFailed", "unjudged"],
  no_files: ["startFailed", "unjudged"],
  damaged: ["startFailed", "unjudged"],
  wrong_shape: ["startFailed", "unjudged"],
  absent: ["startFailed", "unjudged"],
};

const FORMS = {
  bolt: (app: number) => String(app).padStart(6, "0"),
  openhands: (app: number) => `workspace_${app - 1}`,
  aider: (app: number) => `task_${app - 1}`,
};
export type IdForm = keyof typeof FORMS;

const say = (role: string, content: unknown) => ({ role, content });
const asked = [
  say("system", "Imagine you are a robot browsing the web."),
  say("user", [
    {
      type: "text",
      text: "Now given a task: Task: look\nat it. Please interact with http://localhost:1/ and get the answer.",
    },
    { type: "image_url", image_url: { url: "data:image/png;base64,{b64_img}" } },
  ]),
];
const answer = (text: string) => say("assistant", `Thought: I looked.\nAction: ANSWER; ${text}`);
const click = say("assistant", "Thought: On we go.\nAction: Click [3]");
const limit = say("user", `${LIMIT_TEXT} Reply YES, NO or PARTIAL.`);

const MESSAGES: Partial<Record<EndState, readonly object[]>> = {
  answer_yes: [...asked, answer("YES")],
  answer_partial: [...asked, click, ...asked.slice(1), answer("[PARTIAL, only half]")],
  answer_no: [...asked, answer("NO")],
  answer_no_word: [...asked, answer("it works, mostly")],
  no_that_says_yes: [...asked, answer("NO, so I cannot answer YES")],
  forced_yes: [...asked, click, limit, say("assistant", "YES")],
  forced_silent: [...asked, click, limit, say("assistant", "Hm.")],
  driver_failure: [...asked, click],
  api_failure: [...asked, click, ...asked.slice(1)],
  empty: [],
};
const LOG = "2025-01-01 10:00:00 - INFO - start\n";
const CALL = "2025-01-01 10:00:01 - INFO - Iter: 0\nPrompt Tokens: 1000; Completion Tokens: 20\n";
const LOGS: Partial<Record<EndState, string>> = {
  unreachable: `${LOG}selenium.common.exceptions.WebDriverException: unknown error: net::ERR_CONNECTION_REFUSED\n`,
  log_stops: `${LOG}2025-01-01 10:00:01 - INFO - Iter: 0\nthe page says net::ERR_FAKE\n`,
};

/** A row of WebGen-Bench's form. */
export function webgenRow(sampleIndex: number, checkCount: number): SampledRow {
  const check = (index: number) => ({
    task: `Look at thing ${index}.`,
    expected_result: `Thing ${index} is <there> & "well".`,
    task_category: {
      primary_category: ["Functional Testing", "Data Display Testing", "Design Validation Testing"][index % 3],
    },
  });
  const ui_instruct = Array.from({ length: checkCount }, (_, index) => check(index));
  const primary = ["Content Presentation", "User Interaction", "Data Management"][sampleIndex % 3];
  const id = String(sampleIndex).padStart(6, "0");
  const Category = { primary_category: primary };
  return { sampleIndex, row: parseRow({ id, instruction: "Make a site.", Category, ui_instruct }) };
}

function writeText(dir: string, name: string, text: string): void {
  writeFileSync(join(dir, name), text);
}

/** Writes what a judge leaves for one check. */
export function writeCheckFolder(dir: string, state: EndState): void {
  if (state === "absent") return;
  mkdirSync(dir, { recursive: true });
  const messages = MESSAGES[state];
  if (messages !== undefined) {
    writeText(dir, "interact_messages.json", JSON.stringify(messages));
    writeText(dir, "agent.log", LOG + CALL + CALL);
    writeText(dir, "screenshot1.png", "no real picture");
  }
  const log = LOGS[state];
  if (log !== undefined) writeText(dir, "agent.log", log);
  if (state === "damaged") writeText(dir, "interact_messages.json", `[{"role": "assistant", "content": "YES`);
  if (state === "wrong_shape") writeText(dir, "interact_messages.json", `{"verdict": "YES"}`);
}

/** Writes a result set; `apps` holds the end states of each app's checks. Gives its rows. */
export function generateWebvoyager(
  dir: string,
  form: IdForm,
  apps: readonly (readonly EndState[])[],
): readonly SampledRow[] {
  mkdirSync(join(dir, "results"), { recursive: true });
  for (const [index, states] of apps.entries()) {
    for (const [check, state] of states.entries()) {
      writeCheckFolder(join(dir, "results", `task${FORMS[form](index + 1)}_${check}`), state);
    }
  }
  return apps.map((states, index) => webgenRow(index + 1, states.length));
}

/** Adds what no run should hold: names from elsewhere, with odd characters, and a check that no row has. */
export function addHostileFolders(dir: string): void {
  for (const name of ["task..", "task000001_0\nx", "task<script>", "task999999_0", "task000001_99", "notes"]) {
    mkdirSync(join(dir, "results", name), { recursive: true });
  }
}
