import { z } from "zod";
import type { Check } from "../../dataset/row.ts";
import type { ChatPart } from "../../model/chat.ts";
import { fillPrompt } from "../prompts.ts";
import { ExplorerReply, type Action } from "./actions.ts";
import { JudgeStop, type Ask } from "./ask.ts";
import { fenceFor } from "./fence.ts";
import { prompts } from "./load-prompts.ts";
import type { Look } from "./observe-page.ts";
import type { Outcome } from "./perform-action.ts";
import type { EvidenceRecord, KeyPoint, Step } from "./record.ts";

/** How often the explorer may act; several actions of one reply, as in a form, are one interaction. */
const MAX_INTERACTIONS = 15;
const MAX_LOG_LINES = 40;

/** What exploring needs of the browser. */
export interface Explorable {
  look(step: number): Promise<Look>;
  act(action: Action, look: Look): Promise<Outcome>;
  picture(file: string): Promise<ChatPart>;
}

/** What is explored, and with which model. */
export interface Exploration {
  readonly check: Check;
  readonly points: readonly KeyPoint[];
  readonly ask: Ask;
  readonly app: Explorable;
  /** The first look, and how the app opened. */
  readonly first: Step;
  readonly firstLook: Look;
  /** Whether the model can see pictures. */
  readonly hasVision: boolean;
  /** Told each step as it is done; what was told stays when exploring stops half-way. */
  onStep(step: Step): void;
}

const describePoints = (points: readonly KeyPoint[]): string =>
  points.map(({ id, tag, point }) => `${id} (${tag}): ${point}`).join("\n");

const argument = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An action in words, with the element's name in place of nothing but its ref. */
function describeAction({ type, ...rest }: Action, names: ReadonlyMap<string, string>): string {
  const parts = Object.entries(rest).flatMap(([key, value]): string[] => {
    if (value === undefined || key === "claims") return [];
    const name = typeof value === "string" && /^(?:ref|from|to)$/u.test(key) ? names.get(value) : undefined;
    return [name === undefined ? `${key}=${argument(value).slice(0, 300)}` : `[${argument(value)}] ${name}`];
  });
  return `${type} ${parts.join(" ")}`.trim();
}

/** A step in one line, as the explorer and the judge are told it. */
export function describeStep(step: Step): string {
  const how = step.action === null ? "opened the app" : `${step.did} -> ${step.isOk ? "done" : "FAILED"}`;
  return `Step ${step.step}: ${how}${step.result === "" ? "" : ` (${step.result})`}`;
}

export function describePage(step: Step): string {
  const events = step.events.map(({ kind, text }) => `${kind}: ${text}`);
  const about = [
    `address: ${step.path}`,
    `title: ${step.title}`,
    ...step.state,
    ...events,
    ...step.styles.map((line) => `style: ${line}`),
  ];
  return `${about.join("\n")}\n${step.view.length === 0 ? "(the page shows nothing)" : step.view.join("\n")}`;
}

interface Turn {
  readonly left: number;
  readonly withPicture: boolean;
}

async function askExplorer(
  exploration: Exploration,
  steps: readonly Step[],
  turn: Turn,
): Promise<z.infer<typeof ExplorerReply>> {
  const { check, points, ask, app } = exploration;
  const last = steps.at(-1) ?? exploration.first;
  const log = steps.slice(-MAX_LOG_LINES).map(describeStep).join("\n");
  const page = describePage(last);
  // The log quotes names of elements, so it is behind the fence as well.
  const fence = fenceFor(`${log}\n${page}`, prompts.hash);
  const hint = turn.left === 0 ? "Reply with finish now." : "";
  const values = { task: check.task, expected: check.expectedResult, points: describePoints(points) };
  const text = fillPrompt(prompts.texts["explore-step"], {
    ...values,
    log,
    page,
    fence,
    hint,
    left: String(turn.left),
  });
  const pictures = turn.withPicture && last.picture !== null ? [await app.picture(last.picture)] : [];
  return ask({
    role: "explore",
    name: "actions",
    schema: ExplorerReply,
    messages: [
      { role: "system", content: fillPrompt(prompts.texts.explore, { fence }) },
      { role: "user", content: pictures.length === 0 ? text : [{ type: "text", text }, ...pictures] },
    ],
  });
}

/** Whether the picture tells more than the text does: it is of use for looks and canvases, and costs as much as a page of text. */
function needsPicture({ points, hasVision }: Exploration, step: Step, before: Step | undefined): boolean {
  if (!hasVision || step.picture === null || step.pictureHash === before?.pictureHash) return false;
  return step.hasCanvas || points.some(({ tag }) => tag === "visual");
}

async function doActions(
  exploration: Exploration,
  actions: readonly Action[],
  state: { look: Look; steps: Step[] },
): Promise<void> {
  for (const action of actions) {
    const outcome = await exploration.app.act(action, state.look);
    const did = describeAction(action, state.look.names);
    const number = state.steps.length;
    state.look = await exploration.app.look(number);
    const { isOk, result, styles } = outcome;
    const step: Step = {
      step: number,
      action: action.type,
      did,
      isOk,
      result,
      styles: [...styles],
      ...state.look.seen,
    };
    state.steps.push(step);
    exploration.onStep(step);
    // What was planned on the old page may mean something else on the new one.
    if (!isOk) return;
  }
}

/**
 * Lets the model use the app until it says that there is nothing more to find out; gives the steps it names per key point. Rejects
 * with a `JudgeStop` (class `step_budget`) when it does not come to an end.
 */
export async function explore(exploration: Exploration): Promise<EvidenceRecord["claims"]> {
  const state = { look: exploration.firstLook, steps: [exploration.first] };
  let wantsPicture = needsPicture(exploration, exploration.first, undefined);
  for (let left = MAX_INTERACTIONS; left >= 0; left -= 1) {
    const { actions } = await askExplorer(exploration, state.steps, { left, withPicture: wantsPicture });
    const finish = actions.find((action) => action.type === "finish");
    const before = state.steps.at(-1);
    const todo = actions.filter(({ type }) => type !== "finish" && type !== "look");
    if (left > 0) await doActions(exploration, todo, state);
    if (finish?.type === "finish") return finish.claims;
    const last = state.steps.at(-1) ?? exploration.first;
    const asked = actions.some(({ type }) => type === "look");
    wantsPicture = (asked && exploration.hasVision) || needsPicture(exploration, last, before);
  }
  const text = `the explorer did not finish within ${MAX_INTERACTIONS} interactions`;
  throw new JudgeStop({ cause: "budget", class: "step_budget", text });
}
