import type { Judge } from "./judge.ts";

/** A judge that says the same of every check without looking: its error is known, so it tests what measures errors. */
export function createConstantJudge(verdict: "YES" | "NO"): Judge {
  const name = `always-${verdict.toLowerCase()}`;
  return {
    name,
    hash: name,
    timeoutMs: 60_000,
    canJudge: () => true,
    observe: () => Promise.resolve({ points: [], files: [], browserMs: 0 }),
    rule: () => Promise.resolve({ verdict, cause: "judged" }),
  };
}
