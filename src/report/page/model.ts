import type { SampledRow } from "../../dataset/row.ts";
import type { AppScore } from "../../scoring/score-app.ts";
import type { Effort } from "../../trace/effort.ts";
import type { FileRef } from "../../trace/event.ts";
import type { AppStory, Judged } from "../app-story.ts";
import type { ScoredSource } from "../score-source.ts";

/** One app of a run, as its pages show it. */
export interface ReportApp {
  readonly sampled: SampledRow;
  readonly score: AppScore;
  /** Null when the app has no trace yet. */
  readonly effort: Effort | null;
  readonly story: AppStory;
}

/** One run, as its pages show it. */
export interface ReportRun {
  readonly source: ScoredSource;
  /** In the order of the plan. */
  readonly apps: readonly ReportApp[];
  /** Files of `images/` by the hash of their content; only what could be copied is there. */
  readonly images: ReadonlyMap<string, string>;
  /** Changes whenever the run has grown; null for a report that stays as it is. */
  readonly version: string | null;
  /** Address of the page that compares several runs; null for a run alone. */
  readonly comparePage: string | null;
}

/** What a page loads only when somebody wants to see it: one request of one app. */
export interface RequestDetail {
  readonly diff: {
    readonly isCut: boolean;
    readonly files: readonly { readonly path: string; readonly patch: string }[];
  } | null;
  readonly logs: readonly { readonly name: string; readonly text: string }[];
  /** By 0-based check. */
  readonly checks: Readonly<Record<number, CheckDetail>>;
}

/** What a judge did and saw. */
export interface CheckDetail {
  readonly points: readonly { readonly point: string; readonly met: boolean; readonly saw: string }[];
  readonly steps: readonly string[];
}

/** Names of the images among the evidence of a verdict, in order. */
export function imagesOf(judged: Judged, images: ReportRun["images"]): string[] {
  return judged.evidence.flatMap((ref: FileRef) => images.get(ref.sha256) ?? []);
}
