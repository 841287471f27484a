/** How long one app lasted. */
export interface Lifetime {
  /** Requests it is known to have survived from the first on. */
  readonly survived: number;
  /** Whether the next request is known to have ended it; else it was lost from sight there, or there was no next one. */
  readonly hasFailed: boolean;
  /** Requests that were planned. */
  readonly planned: number;
}

/** One step of a survival curve. */
export interface SurvivalPoint {
  /** 1-based request. */
  readonly request: number;
  /** Apps that survived all requests before and of which this one is decided. */
  readonly atRisk: number;
  /** Of these, the apps that this request ended. */
  readonly failed: number;
  /** Apps that survived until here and were lost from sight at this request: censored. */
  readonly lost: number;
  /** Kaplan-Meier estimate of the share of apps that survive this request; null when no app was ever at risk here. */
  readonly share: number | null;
}

/** Kaplan and Meier's product-limit estimate over requests; an app lost from sight counts as long as it was seen. */
export function kaplanMeier(lifetimes: readonly Lifetime[]): SurvivalPoint[] {
  const length = lifetimes.reduce((longest, { planned }) => Math.max(longest, planned), 0);
  let share: number | null = 1;
  return Array.from({ length }, (_, index): SurvivalPoint => {
    const request = index + 1;
    const reached = lifetimes.filter(({ survived, planned }) => survived >= index && planned >= request);
    const ended = reached.filter(({ survived }) => survived === index);
    const failed = ended.filter(({ hasFailed }) => hasFailed).length;
    const lost = ended.length - failed;
    const atRisk = reached.length - lost;
    // Where nobody is left to be seen, the curve cannot be continued, neither down nor level; once at 0 it stays there.
    if (atRisk > 0 && share !== null) share *= 1 - failed / atRisk;
    else if (share !== 0) share = null;
    return { request, atRisk, failed, lost, share };
  });
}
