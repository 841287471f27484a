import { scoreObserved } from "../scoring/score.ts";
import type { Score } from "../scoring/score.ts";
import type { RunFolder } from "../trace/run-folder.ts";

/** The score of a run folder, for exports that show it. */
export function scoreFolder({ run, rows, apps }: RunFolder): Score {
  const { isolation, observation } = run;
  const observed = new Map([...apps].map(([index, { observations }]) => [index, observations] as const));
  return scoreObserved({ rows, apps: observed, isolation, observation });
}
