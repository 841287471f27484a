// The policy server: a scripted model server that reads what a judge's prompt shows and acts by rules. It knows no app, no check
// and no mutant, and there is no model behind it; no result of it is a model's result.
import { openScriptedServer, type ScriptedServer } from "../model/scripted-server.ts";
import { find, isViolated, wantsOf, type Want } from "./check-text.ts";
import { readMarks, readSnapshot, type PageView } from "./page.ts";
import { actsFor, intentsOf, type Act } from "./plan.ts";

const MAX_POINTS = 5;
const MAX_ACTS = 4;

/** Where a conversation stands; told apart by what was asked and done so far, since a request carries no name. */
interface Standing {
  readonly intent: number;
  /** Links followed for this intent. */
  readonly visited: ReadonlySet<string>;
  /** How much of the intent's work is done already, when it takes several replies. */
  readonly skip: number;
  readonly pages: readonly PageView[];
}

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}

const textOf = ({ content }: Message): string =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");

const between = (text: string, start: string, end: string): string => {
  const from = text.indexOf(start);
  if (from < 0) return "";
  const to = text.indexOf(end, from + start.length);
  return text.slice(from + start.length, to < 0 ? undefined : to);
};

/** Starts the policy server; close it by disposing. */
export function openPolicyServer(): Promise<ScriptedServer> {
  const standings = new Map<string, Standing>();
  const shown = new Map<string, PageView>();
  return openScriptedServer(({ body }) => {
    const messages = (body as { messages: readonly Message[] }).messages;
    const system = textOf(messages[0] ?? { role: "", content: "" });
    if (system.startsWith("You are a robot")) return webvoyager(messages, standings);
    const user = textOf(messages.at(-1) ?? { role: "", content: "" });
    if (system.startsWith("You prepare")) return rubric(user);
    if (system.startsWith("You operate")) return explore(user, standings);
    return judge(user, { shown, isRefuting: system.includes("refute") });
  });
}

interface Question {
  readonly task: string;
  readonly expected: string;
}

const questionOf = (user: string): Question => ({
  task: between(user, "Task: ", "\nExpected result: "),
  expected: between(user, "\nExpected result: ", "\n\n"),
});

function next(
  question: Question,
  page: PageView,
  before: Standing,
): { readonly acts: readonly Act[]; readonly after: Standing } {
  const intents = intentsOf(question.task, question.expected);
  let { intent, visited, skip } = before;
  const pages = [...before.pages, page];
  for (let current = intents[intent]; current !== undefined; current = intents[intent]) {
    const { acts: all, isDone } = actsFor(current, page, visited);
    const acts = all.slice(skip);
    if (isDone && acts.length > MAX_ACTS) {
      return { acts: acts.slice(0, MAX_ACTS), after: { intent, visited, skip: skip + MAX_ACTS, pages } };
    }
    skip = 0;
    const followed = acts.flatMap((act) => (act.type === "click" && !isDone ? [act.on.name] : []));
    [intent, visited] = isDone ? [intent + 1, new Set()] : [intent, new Set([...visited, ...followed])];
    if (acts.length > 0) return { acts, after: { intent, visited, skip, pages } };
  }
  return { acts: [], after: { intent, visited, skip, pages } };
}

const START: Standing = { intent: 0, visited: new Set(), skip: 0, pages: [] };

/** The standing after the longest known beginning of what was done; the last line is always new. */
function standingOf(standings: ReadonlyMap<string, Standing>, key: string, log: string): Standing {
  const lines = log.split("\n");
  for (let length = lines.length - 1; length > 0; length -= 1) {
    const known = standings.get(`${key}\n${lines.slice(0, length).join("\n")}`);
    if (known !== undefined) return known;
  }
  return START;
}

function rubric(user: string): string {
  const task = between(user, "Task: ", "\nExpected result: ");
  const expected = user.slice(user.indexOf("\nExpected result: ") + "\nExpected result: ".length);
  const points = pointsOf(expected).map((wants) => ({
    point: wants.map(({ text }) => text).join("; "),
    tag: tagOf(task, wants),
    texts: [],
    unchanged: wants.every(({ isNegative }) => isNegative),
  }));
  return JSON.stringify({ points });
}

function tagOf(task: string, wants: readonly Want[]): "static" | "interaction" | "persistence" {
  const text = wants.map((want) => want.text).join(" ");
  if (/(?<!without a )\b(?:reload|restart)/iu.test(text) && !/before and after/iu.test(text)) return "persistence";
  const acts = /\b(?:press|add|lend|return|record|type|choose|set|click|import|undo|delete|mark)\b/iu;
  return acts.test(task) && !/^(?:at first|before)\b/iu.test(text) ? "interaction" : "static";
}

/** At most five key points; what is left over joins the last one. */
function pointsOf(expected: string): readonly (readonly Want[])[] {
  const wants = wantsOf(expected);
  return wants.length <= MAX_POINTS
    ? wants.map((want) => [want])
    : [...wants.slice(0, MAX_POINTS - 1).map((want) => [want]), wants.slice(MAX_POINTS - 1)];
}

function explore(user: string, standings: Map<string, Standing>): string {
  const question = questionOf(user);
  const key = `evidence\n${question.task}\n${question.expected}`;
  const log = between(user, "What was done so far:\n", "\n\nThe page now:\n");
  const page = readSnapshot(between(user, "\n\nThe page now:\n", "\nEND "));
  const { acts, after } = next(question, page, standingOf(standings, key, log));
  standings.set(`${key}\n${log}`, after);
  const actions = user.includes("Reply with finish now") ? [] : acts.map(action);
  const steps = after.pages.map((_, index) => index);
  const finish = {
    type: "finish",
    claims: pointsOf(question.expected).map((_, index) => ({ id: `k${index + 1}`, steps: steps.slice(-3) })),
  };
  return JSON.stringify({ note: "by rule", actions: actions.length === 0 ? [finish] : actions });
}

function action(act: Act): object {
  if (act.type === "click") return { type: "click", ref: act.on.ref };
  if (act.type === "type") return { type: "type", ref: act.on.ref, text: act.text };
  if (act.type === "select") return { type: "select", ref: act.on.ref, option: act.option };
  return { type: act.type };
}

/** The pages of a record, by step; a step that shows only what changed is laid over the one before. */
function pagesOf(record: string): readonly PageView[] {
  return record
    .split(/^(?=Step \d+: )/mu)
    .filter((part) => part.startsWith("Step "))
    .map(readSnapshot);
}

function judge(
  user: string,
  { isRefuting }: { readonly shown: Map<string, PageView>; readonly isRefuting: boolean },
): string {
  const { expected } = questionOf(user);
  const record = /BEGIN \w+\n([\s\S]*)\nEND /u.exec(user)?.[1] ?? "";
  const pages = pagesOf(record);
  const points = pointsOf(expected).map((wants, index) => {
    const id = `k${index + 1}`;
    const found = wants.filter(({ isNegative }) => !isNegative).map((want) => find(want, pages));
    const isMet =
      found.every((place) => place !== null) && !wants.some((want) => want.isNegative && isViolated(want, pages));
    if (isRefuting) return { id, refuted: !isMet, error: isMet ? "none" : "outcome", reason: "by rule" };
    const last = pages.length - 1;
    const evidence = found.flatMap((place) =>
      place === null ? [] : [{ step: place.page, kind: "snapshot", quote: place.quote }],
    );
    const anything = [
      { step: last, kind: "snapshot", quote: pages[last]?.find(({ name }) => name !== "")?.name ?? "" },
    ];
    return {
      id,
      status: isMet ? "met" : "not_met",
      evidence: evidence.length > 0 ? evidence : anything,
      reason: "by rule",
    };
  });
  return JSON.stringify({ points });
}

function webvoyager(messages: readonly Message[], standings: Map<string, Standing>): string {
  const first = textOf(messages.find(({ role }) => role === "user") ?? { role: "", content: "" });
  const question = {
    task: between(first, "Task: ", "\n\nExpected Result: "),
    expected: between(first, "\n\nExpected Result: ", "\n\nInstructions:"),
  };
  const key = `webvoyager\n${question.task}\n${question.expected}`;
  const log = messages
    .filter(({ role }) => role === "assistant")
    .map((message) => textOf(message).replaceAll("\n", " "))
    .join("\n");
  const last = textOf(messages.at(-1) ?? { role: "", content: "" });
  const before = standings.get(`${key}\n${log}`) ?? START;
  const page = readMarks(last);
  const { acts, after } = next(question, page, before);
  const possible = acts.find((act) => act.type === "click" || act.type === "type");
  const isLast = last.includes("maximum number");
  if (possible !== undefined && !isLast) {
    const reply = `Thought: step ${after.pages.length} by rule.\nAction: ${
      possible.type === "click" ? `Click [${possible.on.ref}]` : `Type [${possible.on.ref}]; [${possible.text}]`
    }`;
    standings.set(`${key}\n${[log, reply.replaceAll("\n", " ")].filter((part) => part !== "").join("\n")}`, after);
    return reply;
  }
  const wants = wantsOf(question.expected);
  const positive = wants.filter(({ isNegative }) => !isNegative);
  const met = positive.filter((want) => find(want, after.pages) !== null).length;
  const isViolating = wants.some((want) => want.isNegative && isViolated(want, after.pages));
  const isAll = met === positive.length && met > 0 && !isViolating;
  const verdict = isAll ? "YES" : met === 0 ? "NO" : "PARTIAL";
  return `Thought: ${met} of ${positive.length} statements were seen.\nAction: ANSWER; ${verdict}`;
}
