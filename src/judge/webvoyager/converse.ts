import { scoreTranscript, parseReply } from "../../dataset/webvoyager-transcript.ts";
import { EvowebError, messageOf } from "../../errors.ts";
import { ModelError, type ChatModel, type ChatReply, type ModelUsage } from "../../model/chat.ts";
import { addUsage } from "../../model/usage.ts";
import { settledWithin } from "../browser-process.ts";
import type { BrowserSession, PageNote } from "../browser-session.ts";
import type { Evidence, JudgeFault, JudgeTask } from "../judge.ts";
import { faultOf } from "../model-fault.ts";
import { PageDidNotOpen } from "../open-page.ts";
import { cut } from "../page-notes.ts";
import { act } from "./act.ts";
import { listElements } from "./list-elements.ts";
import { look, type Screen } from "./look.ts";
import {
  limitText,
  observationText,
  PROMPTS,
  toChat,
  toPublished,
  trimMessages,
  type Question,
  type WebvoyagerMessage,
} from "./messages.ts";
import type { WebvoyagerRecord } from "./record.ts";
import { PageTooSlow, PendingRequests, settle } from "./settle.ts";

/** The published limits. */
const MAX_CALLS = 15;
const MAX_PICTURES = 3;
const MAX_TOKENS = 1000;
const CALL_LIMIT_MS = 120_000;
const OPEN_SETTLE_MS = 5000;
const RESPONSE_LIMIT_MS = 3000;

/** What is unmet when the app itself ends the conversation. */
export const POINTS = { opens: "the page opens", answers: "the page answers" } as const;

/** How the model is asked. */
export interface Asking {
  readonly model: ChatModel;
  readonly temperature: number;
  readonly seed: number;
}

/** The judge itself cannot go on. */
class Fault extends Error {
  readonly fault: JudgeFault;

  constructor(fault: JudgeFault) {
    super(fault.text);
    this.fault = fault;
  }
}

/** One conversation about one check. */
export class Conversation {
  readonly #task: JudgeTask;
  readonly #session: BrowserSession;
  readonly #asking: Asking;
  readonly #question: Question;
  readonly #pending: PendingRequests;
  readonly #deadline: number;
  readonly #calls: WebvoyagerRecord["calls"] = [];
  readonly #screens: WebvoyagerRecord["screens"] = [];
  readonly #usages: ModelUsage[] = [];
  #messages: readonly WebvoyagerMessage[] = [{ role: "system", text: PROMPTS.texts.system }];
  #screen: Screen | null = null;
  #notesRead = 0;

  constructor(task: JudgeTask, session: BrowserSession, asking: Asking) {
    this.#task = task;
    this.#session = session;
    this.#asking = asking;
    // Each start gets another port; with it in the prompt no recorded answer would ever be found again.
    this.#question = { ...task.check, url: "http://localhost/" };
    this.#pending = new PendingRequests(session.context);
    // Ends by itself a little before it would be ended, so that what was seen is kept.
    this.#deadline = performance.now() + task.timeoutMs * 0.95;
  }

  /** Holds the conversation; resolves with what it came to, also when it broke off. */
  async hold(): Promise<Evidence> {
    try {
      const before = this.#pending.now();
      await this.#session.page.goto(this.#task.target.url);
      const settling = { pending: this.#pending, before, limitMs: OPEN_SETTLE_MS, afterChange: false };
      await settle(this.#session.page, settling);
      await this.#converse();
      return this.#evidence({});
    } catch (error) {
      return this.#evidence(await this.#blame(error));
    }
  }

  async #converse(): Promise<void> {
    let notes = "";
    let correction: string | null = null;
    for (let call = 1; call <= MAX_CALLS; call += 1) {
      if (call === MAX_CALLS) this.#say(limitText(this.#question));
      else if (correction !== null) this.#say(correction);
      else await this.#observe(call, notes);
      const action = parseReply(await this.#ask());
      if (action.kind === "answer" || call === MAX_CALLS) return;
      ({ notes, correction } = await this.#follow(action));
    }
  }

  #say(text: string): void {
    this.#messages = [...this.#messages, { role: "user", text }];
  }

  async #observe(call: number, notes: string): Promise<void> {
    const screen = await look(this.#session, call, this.#task.evidenceDir);
    this.#screen = screen;
    const boxes = screen.marks.map((mark) => [...mark.boxes]);
    this.#screens.push({ call, file: screen.file, boxes });
    const isFirst = this.#screens.length === 1;
    const text = observationText(listElements(screen.marks), {
      notes: `${this.#happenings()}${notes}`,
      question: isFirst ? this.#question : null,
    });
    this.#messages = [...this.#messages, { role: "user", text, picture: screen.picture }];
  }

  /** Dialogs and new windows since the last look. */
  #happenings(): string {
    const { notes } = this.#session;
    const told = notes.slice(this.#notesRead).map((note) => HAPPENINGS[note.kind]?.(cut(note.text, 200)) ?? "");
    this.#notesRead = notes.length;
    return told.join("");
  }

  async #follow(
    action: Exclude<ReturnType<typeof parseReply>, { kind: "answer" }>,
  ): Promise<{ notes: string; correction: string | null }> {
    if (action.kind === "malformed") return { notes: "", correction: PROMPTS.texts["format-error"] };
    if (action.kind === "none") return { notes: "", correction: PROMPTS.texts["action-error"] };
    const hands = { session: this.#session, pending: this.#pending, screen: this.#screen };
    const outcome = await act(action, hands);
    if (outcome.how === "failed") return { notes: "", correction: PROMPTS.texts["action-error"] };
    return { notes: outcome.note, correction: null };
  }

  async #ask(): Promise<string> {
    this.#messages = trimMessages(this.#messages, MAX_PICTURES);
    const leftMs = this.#deadline - performance.now();
    if (leftMs <= 0) throw this.#outOfTime();
    const { rowId, request, checkIndex, sample, signal } = this.#task;
    const atMs = Date.now();
    let reply: ChatReply;
    try {
      const { model, temperature, seed } = this.#asking;
      reply = await model.chat(
        { messages: toChat(this.#messages), maxTokens: MAX_TOKENS, temperature, seed },
        {
          role: "webvoyager",
          app: rowId,
          // Tries of one judgement share an account; another pass has its own.
          check: `${request}.${checkIndex} pass ${sample.split(".")[0]}`,
          sample,
          timeoutMs: Math.ceil(Math.min(CALL_LIMIT_MS, leftMs)),
          signal,
        },
      );
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.#usages.push(error.usage);
      if (error.failure === "timeout" && performance.now() >= this.#deadline) throw this.#outOfTime();
      throw new Fault(faultOf(error));
    }
    this.#usages.push(reply.usage);
    this.#calls.push({ atMs, inputTokens: reply.usage.inputTokens, outputTokens: reply.usage.outputTokens });
    this.#messages = [...this.#messages, { role: "assistant", text: reply.text }];
    return reply.text;
  }

  #outOfTime(): Fault {
    const text = `the check's limit of ${this.#task.timeoutMs} ms is nearly over after ${this.#calls.length} calls`;
    return new Fault({ cause: "budget", class: "time_limit", text });
  }

  /** Whose doing it is that the conversation broke off; throws what is neither the app's nor the judge's. */
  async #blame(error: unknown): Promise<Pick<Evidence, "fault"> & Partial<Pick<Evidence, "points">>> {
    this.#task.signal.throwIfAborted();
    if (error instanceof EvowebError) throw error;
    if (error instanceof Fault) return { fault: error.fault };
    if (error instanceof PageDidNotOpen) return unmet(POINTS.opens, messageOf(error));
    // A browser or page that dies rejects its calls a moment before it is known to be gone.
    await settledWithin(this.#session.ended, 500);
    if (this.#session.end !== undefined) throw error;
    if (error instanceof PageTooSlow && !(await this.#session.isResponsive(RESPONSE_LIMIT_MS))) {
      return unmet(POINTS.answers, `no answer in ${RESPONSE_LIMIT_MS} ms`);
    }
    return { fault: { class: "capture_failed", text: cut(messageOf(error), 500) } };
  }

  #evidence(broken: Pick<Evidence, "fault"> & Partial<Pick<Evidence, "points">>): Evidence {
    const record: WebvoyagerRecord = {
      messages: toPublished(this.#messages).map((message) => structuredClone(message) as MutableMessage),
      calls: this.#calls,
      screens: this.#screens,
    };
    const usage = addUsage(this.#usages);
    this.#session.note(`ends as ${scoreTranscript(record.messages).end}`);
    return {
      points: [],
      files: this.#session.files(),
      browserMs: this.#session.browserMs(),
      record,
      ...(usage === null ? {} : { usage }),
      ...broken,
    };
  }
}

type MutableMessage = WebvoyagerRecord["messages"][number];

const unmet = (point: string, saw: string): Pick<Evidence, "points"> => ({
  points: [{ point, met: false, saw: cut(saw, 500) }],
});

const HAPPENINGS: Readonly<Partial<Record<PageNote["kind"], (text: string) => string>>> = {
  dialog: (text) => ` (a dialog was shown: ${text})`,
  popup: (text) => ` (a new tab was opened: ${text})`,
  popup_closed: (text) => ` (a tab was closed: ${text})`,
};
