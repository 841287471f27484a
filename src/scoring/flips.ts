/** How much verdicts change when the same question is asked again. */
export interface Flips {
  /** Questions that were asked at least twice. */
  readonly checks: number;
  /** Of these, how many did not get the same verdict every time. */
  readonly flipped: number;
  /** Share of pairs of passes over one question that disagree, averaged over questions; null when none was asked twice. */
  readonly rate: number | null;
}

/**
 * Flips over the verdicts of several questions, one list a question. Pairs are counted, so that the rate does not grow with the
 * number of passes; MISSING is a verdict like any other here.
 */
export function countFlips(questions: readonly (readonly string[])[]): Flips {
  const repeated = questions.filter((verdicts) => verdicts.length > 1);
  const disagreements = repeated.map(disagreement);
  return {
    checks: repeated.length,
    flipped: disagreements.filter((share) => share > 0).length,
    rate: repeated.length === 0 ? null : disagreements.reduce((sum, share) => sum + share, 0) / repeated.length,
  };
}

function disagreement(verdicts: readonly string[]): number {
  let pairs = 0;
  let different = 0;
  for (const [index, verdict] of verdicts.entries()) {
    for (const other of verdicts.slice(index + 1)) {
      pairs += 1;
      if (other !== verdict) different += 1;
    }
  }
  return different / pairs;
}
