import type { Check } from "../dataset/row.ts";
import type { ModelUsage } from "../model/chat.ts";
import type { BrowserSession, SessionTarget } from "./browser-session.ts";

/** What a judge is given about one check; it knows no row order, no trace and no score. */
export interface JudgeTask {
  readonly rowId: string;
  /** 1-based number of the request whose app is looked at. */
  readonly request: number;
  /** 0-based position of the check in that request. */
  readonly checkIndex: number;
  readonly check: Check;
  /** Which judgement of this check it is ("1.2": first pass, second try), so that equal questions to a model can be told apart. */
  readonly sample: string;
  /** Where the app is, and how to reach it. */
  readonly target: SessionTarget;
  /**
   * Stops the app and starts it again on the same data; resolves with the URL once it answers. Rejects with an `EvowebError`
   * when the harness is at fault, and with any other error when the app did not come up again (then the app is at fault).
   */
  restart(): Promise<string>;
  /** Folder of the check's own evidence files; exists. */
  readonly evidenceDir: string;
  /** Limit of the observation; a judge that paces itself stays below it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** One statement about the app that an oracle decided. */
export interface PointResult {
  /** What had to be seen. */
  readonly point: string;
  readonly met: boolean;
  /** What was seen instead or as proof; text from the page, bounded. */
  readonly saw: string;
}

/** What was observed; enough to rule again without a browser. */
export interface Evidence {
  readonly points: readonly PointResult[];
  /** File names relative to `evidenceDir`. */
  readonly files: readonly string[];
  /** Time inside browser calls. */
  readonly browserMs: number;
  /** Set when the judge itself failed; then nothing can be ruled. */
  readonly fault?: JudgeFault;
  /** What only the judge that observed can read, as plain JSON; kept in `evidence.json`, so that it can rule again from it. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** What the observation took of a model; absent when none took part. */
  readonly usage?: ModelUsage;
}

/** Why a judge could not decide; never the app's doing. */
export interface JudgeFault {
  /** Default `judge_error`; `budget` when a limit of tokens, money or steps stopped it, `infra` when its model could not be reached. */
  readonly cause?: "judge_error" | "budget" | "infra";
  /** As in docs/run-folder.md, such as `malformed_reply`. */
  readonly class: string;
  readonly text: string;
}

/** What a ruling is made from; no browser and no app. */
export interface RuleTask {
  readonly rowId: string;
  readonly request: number;
  readonly checkIndex: number;
  readonly check: Check;
  /** As in the task that was observed. */
  readonly sample: string;
  readonly evidence: Evidence;
  /** Folder with the evidence's files. */
  readonly evidenceDir: string;
  readonly signal: AbortSignal;
}

/** A ruling on one check. */
export interface CheckResult {
  readonly verdict: "YES" | "PARTIAL" | "NO" | "MISSING";
  readonly cause: "judged" | "judge_error" | "no_oracle" | "budget" | "infra";
  readonly class?: string;
  /** What the ruling took of a model, without the observation; absent when none took part. */
  readonly usage?: ModelUsage;
  /** Key points with the evidence that was accepted, where the ruling made them (otherwise they are in the evidence). */
  readonly points?: readonly PointResult[];
  /** The same evidence under the judge's other verdict rules, by name, such as `{legacy: "YES", strict: "MISSING"}`. */
  readonly rules?: Readonly<Record<string, "YES" | "PARTIAL" | "NO" | "MISSING">>;
}

/** A judge: observes in a fresh browser session, then rules from the evidence alone. */
export interface Judge {
  readonly name: string;
  /** Hash over everything that can change a ruling: oracle files, prompts. */
  readonly hash: string;
  /** Limit of one check where the run's options name none. */
  readonly timeoutMs: number;
  /** Size of the window that it looks at; absent: 1280 x 720. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** False when the judge can say nothing about this check (cause `no_oracle`). */
  canJudge(rowId: string): boolean;
  /** Looks at the app. Its own failures are `Evidence.fault`; it rejects only for `EvowebError`s and when the session ended. */
  observe(task: JudgeTask, session: BrowserSession): Promise<Evidence>;
  /** Rules from the evidence alone. Its own failures are a MISSING result; it rejects only for `EvowebError`s and the signal's reason. */
  rule(task: RuleTask): Promise<CheckResult>;
}
