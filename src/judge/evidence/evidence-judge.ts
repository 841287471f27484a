import type { Page } from "playwright";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Check } from "../../dataset/row.ts";
import { EvowebError, messageOf } from "../../errors.ts";
import type { ChatModel } from "../../model/chat.ts";
import { addUsage } from "../../model/usage.ts";
import type { BrowserSession } from "../browser-session.ts";
import type { CheckResult, Evidence, Judge, JudgeTask, RuleTask } from "../judge.ts";
import { PageDidNotOpen } from "../open-page.ts";
import { createAsk, JudgeStop, type Ask } from "./ask.ts";
import { explore, type Explorable } from "./explore.ts";
import { isSuspicious } from "./fence.ts";
import { prompts } from "./load-prompts.ts";
import { Observer, type Look } from "./observe-page.ts";
import { performAction } from "./perform-action.ts";
import type { EvidenceRecord, KeyPoint, Step } from "./record.ts";
import { writeRubric } from "./rubric.ts";
import { pictureOf, ruleOnRecord } from "./rule.ts";
import { readColors, ruleColor } from "./style.ts";

/** What changes a ruling beside prompts and models: raised when the rules in code change. */
const RULES_VERSION = 2;
const DEFAULT_TIMEOUT_MS = 5 * 60_000;
const CALL_LIMIT_MS = 120_000;
const VIEWPORT = { width: 1280, height: 720 } as const;

/** What the evidence judge is made of. */
export interface EvidenceJudgeOptions {
  readonly model: ChatModel;
  /** Writes the key points; default: `model`. */
  readonly rubricModel?: ChatModel;
  /** Whether the model takes pictures; default true. */
  readonly hasVision?: boolean;
  /** Limit of one check; default 5 minutes. */
  readonly timeoutMs?: number;
}

type Place = Pick<JudgeTask, "rowId" | "request" | "checkIndex" | "sample" | "signal">;

/** Calls of one check and its repeats share an account; the tries of one judgement (the part after the dot) do too. */
const contextOf = ({ rowId, request, checkIndex, sample, signal }: Place) => ({
  app: rowId,
  check: `${request}.${checkIndex}/${sample.split(".")[0] ?? ""}`,
  sample,
  timeoutMs: CALL_LIMIT_MS,
  signal,
});

/** What one observation works with. */
interface Observation {
  readonly task: JudgeTask;
  readonly session: BrowserSession;
  readonly points: readonly KeyPoint[];
  readonly ask: Ask;
  readonly hasVision: boolean;
  readonly signal: AbortSignal;
}

const emptyLook: Look["seen"] = {
  path: "",
  title: "",
  view: [],
  state: [],
  events: [],
  hasCanvas: false,
  picture: null,
  pictureHash: null,
};
const firstStep = (seen: Look["seen"], isOk: boolean, result: string): Step => ({
  step: 0,
  action: null,
  did: "",
  isOk,
  result,
  styles: [],
  ...seen,
});

/** Text for the judge is noted where a reader of the trace will look for it; it is evidence of nothing. */
function flagSuspicious(session: BrowserSession, { step, view, events, title }: Step): void {
  const texts = [title, ...view, ...events.map(({ text }) => text)];
  for (const text of texts.filter(isSuspicious).slice(0, 5)) {
    session.note(`suspected instruction in step ${step}: ${text.trim().slice(0, 200)}`);
  }
}

/** Actions that can open a window. */
const MAY_OPEN_TAB: ReadonlySet<string> = new Set(["click", "double_click", "click_at", "press"]);

function showsTheSame({ seen: before }: Look, { seen: after }: Look): boolean {
  const facts = ({ path, title, view }: Look["seen"]): string => JSON.stringify([path, title, view]);
  return facts(before) === facts(after);
}

function exploreWith({ task, session, signal }: Observation): Explorable & { open(): Promise<Step & { look?: Look }> } {
  let url = task.target.url;
  const observer = new Observer({ session, evidenceDir: task.evidenceDir, origin: () => new URL(url).origin, signal });
  const led = new Set<string>();
  const named = `${task.check.task}\n${task.check.expectedResult}`;
  let last: { readonly look: Look; readonly tabs: readonly Page[] } | undefined;
  const look = async (step: number): Promise<Look> => {
    signal.throwIfAborted();
    let found = await observer.look(step);
    if (last !== undefined && showsTheSame(last.look, found) && (await observer.followLateTab(last.tabs))) {
      const { seen, ...rest } = await observer.look(step);
      found = { ...rest, seen: { ...seen, events: [...found.seen.events, ...seen.events] } };
    }
    last = undefined;
    for (const tab of observer.tabs()) led.add(observer.local(tab.url()));
    return found;
  };
  return {
    look,
    act: async (action, seen) => {
      const tabs = observer.tabs();
      const outcome = await performAction(
        {
          session,
          observer,
          look: seen,
          mayOpen: (path) => path === "/" || led.has(path) || named.includes(path),
          url: () => url,
          restart: async () => {
            url = await task.restart();
          },
        },
        action,
      );
      if (outcome.isOk && MAY_OPEN_TAB.has(action.type)) last = { look: seen, tabs };
      return outcome;
    },
    picture: async (file) => {
      const part = await pictureOf(task.evidenceDir, file);
      if (part === undefined)
        throw new EvowebError("io", `The picture ${file} of this check is gone from ${task.evidenceDir}.`);
      return part;
    },
    open: async () => {
      try {
        await session.page.goto(url);
      } catch (error) {
        if (error instanceof PageDidNotOpen) return firstStep(emptyLook, false, messageOf(error).slice(0, 300));
        throw error;
      }
      const first = await look(0);
      return { ...firstStep(first.seen, true, ""), look: first };
    },
  };
}

async function gather(observation: Observation, record: EvidenceRecord): Promise<void> {
  const { task, session, points, ask, hasVision } = observation;
  const app = exploreWith(observation);
  const { look, ...first } = await app.open();
  record.steps.push(first);
  if (look === undefined) return;
  flagSuspicious(session, first);
  if (points.some(({ tag }) => tag === "visual") && first.picture !== null) {
    record.colors = await readColors(join(task.evidenceDir, first.picture), look.facts);
  }
  if (points.every((point) => ruleColor(point, record.colors) !== undefined)) return;
  const onStep = (step: Step): void => {
    record.steps.push(step);
    flagSuspicious(session, step);
  };
  const claims = await explore({ check: task.check, points, ask, app, first, firstLook: look, hasVision, onStep });
  record.claims.push(...claims);
}

class EvidenceJudge implements Judge {
  readonly name = "evidence";
  readonly hash: string;
  readonly timeoutMs: number;
  readonly viewport = VIEWPORT;
  readonly #options: EvidenceJudgeOptions;
  readonly #rubrics = new Map<string, Promise<KeyPoint[]>>();

  constructor(options: EvidenceJudgeOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const { model, rubricModel = model, hasVision = true } = options;
    const parts = [RULES_VERSION, prompts.hash, model.fingerprint, rubricModel.fingerprint, hasVision];
    this.hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  }

  canJudge(): boolean {
    return true;
  }

  async observe(task: JudgeTask, session: BrowserSession): Promise<Evidence> {
    const ended = new AbortController();
    void session.ended.then((end) => ended.abort(new Error(end.text)));
    const signal = AbortSignal.any([task.signal, ended.signal, AbortSignal.timeout(task.timeoutMs)]);
    const { model, rubricModel = model, hasVision = true } = this.#options;
    const rubric = createAsk({ model: rubricModel, context: { ...contextOf({ ...task, signal }), sample: "rubric" } });
    const { ask, usage } = createAsk({ model, context: contextOf({ ...task, signal }) });
    const record: EvidenceRecord = { version: 1, points: [], steps: [], claims: [], colors: null };
    const evidence = (): Evidence => {
      const used = addUsage([rubric.usage() ?? undefined, usage() ?? undefined]);
      const common = { points: [], files: session.files(), browserMs: session.browserMs(), record: { ...record } };
      return used === null ? common : { ...common, usage: used };
    };
    try {
      record.points = await this.#rubric(task.check, rubric.ask);
      await gather({ task, session, points: record.points, ask, hasVision, signal }, record);
      return evidence();
    } catch (error) {
      if (error instanceof JudgeStop) return { ...evidence(), fault: error.fault };
      throw error;
    }
  }

  async rule(task: RuleTask): Promise<CheckResult> {
    const { fault } = task.evidence;
    if (fault !== undefined) return { verdict: "MISSING", cause: fault.cause ?? "judge_error", class: fault.class };
    const { ask, usage } = createAsk({ model: this.#options.model, context: contextOf(task) });
    const withUsage = (result: CheckResult): CheckResult => {
      const used = usage();
      return used === null ? result : { ...result, usage: used };
    };
    try {
      return withUsage(await ruleOnRecord(task, ask, this.#options.hasVision ?? true));
    } catch (error) {
      if (!(error instanceof JudgeStop)) throw error;
      return withUsage({ verdict: "MISSING", cause: error.fault.cause ?? "judge_error", class: error.fault.class });
    }
  }

  /** One rubric per check text and run, however often and wherever the check is judged. */
  #rubric(check: Check, ask: Ask): Promise<KeyPoint[]> {
    const key = JSON.stringify([check.task, check.expectedResult]);
    const made = this.#rubrics.get(key) ?? writeRubric(check, ask);
    this.#rubrics.set(key, made);
    // A rubric that could not be written must not stand for ever.
    made.catch(() => this.#rubrics.delete(key));
    return made;
  }
}

/**
 * The judge that collects evidence and rules on it apart: key points written before the app is seen, an explorer that acts and never
 * rules, a judge in a fresh context whose every citation is checked in code, and a second look at every YES (docs/judges.md).
 */
export function createEvidenceJudge(options: EvidenceJudgeOptions): Judge {
  return new EvidenceJudge(options);
}
