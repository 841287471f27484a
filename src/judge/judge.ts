import type { Check } from "../dataset/row.ts";
import type { BrowserSession, SessionTarget } from "./browser-session.ts";

/** What a judge is given about one check; it knows no row order, no trace and no score. */
export interface JudgeTask {
  readonly rowId: string;
  /** 1-based number of the request whose app is looked at. */
  readonly request: number;
  /** 0-based position of the check in that request. */
  readonly checkIndex: number;
  readonly check: Check;
  /** Where the app is, and how to reach it. */
  readonly target: SessionTarget;
  /**
   * Stops the app and starts it again on the same data; resolves with the URL once it answers. Rejects with an `EvowebError`
   * when the harness is at fault, and with any other error when the app did not come up again (then the app is at fault).
   */
  restart(): Promise<string>;
  /** Folder of the check's own evidence files; exists. */
  readonly evidenceDir: string;
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
  /** Set when the judge itself failed; then nothing can be ruled. Class as in design.md section 7, such as `malformed_reply`. */
  readonly fault?: { readonly class: string; readonly text: string };
}

/** A ruling on one check. */
export interface CheckResult {
  readonly verdict: "YES" | "PARTIAL" | "NO" | "MISSING";
  readonly cause: "judged" | "judge_error" | "no_oracle" | "budget" | "infra";
  readonly class?: string;
}

/** A judge: observes in a fresh browser session, then rules from the evidence alone. */
export interface Judge {
  readonly name: string;
  /** Hash over everything that can change a ruling: oracle files, prompts. */
  readonly hash: string;
  /** False when the judge can say nothing about this check (cause `no_oracle`). */
  canJudge(rowId: string): boolean;
  /** Looks at the app. Its own failures are `Evidence.fault`; it rejects only for `EvowebError`s and when the session ended. */
  observe(task: JudgeTask, session: BrowserSession): Promise<Evidence>;
  rule(check: Check, evidence: Evidence): CheckResult;
}
