/** What came of the trials of one app. */
export interface Trials {
  /** How the app is called in what is left out. */
  readonly app: string;
  /** Whether each trial passed; null for a trial that nobody could decide, whatever the reason. */
  readonly passed: readonly (boolean | null)[];
}

/** pass@k and pass^k, over the apps of which every planned trial was decided. */
export interface PassAtK {
  readonly k: number;
  /** Mean chance that one of k trials passes, by C(n-c,k)/C(n,k); null when it cannot be had. */
  readonly passAtK: number | null;
  /** Mean chance that all of k trials pass, by C(c,k)/C(n,k); null when it cannot be had. */
  readonly passHatK: number | null;
  /** Apps that count. */
  readonly apps: number;
}

/** Repeats of one side. */
export interface TrialSummary {
  /** Trials planned for each app. */
  readonly planned: number;
  /** Trials that nobody could decide, of all that were planned; they are neither passed nor failed. */
  readonly missing: number;
  /** Apps that are in no number because a trial of theirs is missing. */
  readonly leftOut: readonly string[];
  /** Share of passed trials of the apps that count; null when there are none. */
  readonly avgAtK: number | null;
  /** For k from 1 to the number of planned trials. */
  readonly byK: readonly PassAtK[];
}

/** C(few, k) / C(all, k), without the large numbers between. */
function shareOfDraws(few: number, all: number, k: number): number {
  let share = 1;
  for (let index = 0; index < k; index += 1) share *= Math.max(0, few - index) / (all - index);
  return share;
}

const passedOf = ({ passed }: Trials): number => passed.filter((trial) => trial === true).length;

function isWhole({ passed }: Trials, planned: number): boolean {
  return passed.length >= planned && !passed.includes(null);
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The unbiased estimates for one k; not available when k is more than the trials that were planned. */
export function passAtK(trials: readonly Trials[], planned: number, k: number): PassAtK {
  const counted = k < 1 || k > planned ? [] : trials.filter((app) => isWhole(app, planned));
  const draws = (few: (app: Trials) => number): number[] =>
    counted.map((app) => shareOfDraws(few(app), app.passed.length, k));
  const noneOf = meanOf(draws((app) => app.passed.length - passedOf(app)));
  return {
    k,
    passAtK: noneOf === null ? null : 1 - noneOf,
    passHatK: meanOf(draws(passedOf)),
    apps: counted.length,
  };
}

/** All k over the same apps, so that the numbers can be read against each other. */
export function summariseTrials(trials: readonly Trials[], planned: number): TrialSummary {
  const counted = trials.filter((app) => isWhole(app, planned));
  const decided = trials.reduce((sum, { passed }) => sum + passed.filter((trial) => trial !== null).length, 0);
  return {
    planned,
    missing: trials.length * planned - decided,
    leftOut: trials.filter((app) => !isWhole(app, planned)).map(({ app }) => app),
    avgAtK: meanOf(counted.map((app) => passedOf(app) / app.passed.length)),
    byK: Array.from({ length: planned }, (_, index) => passAtK(trials, planned, index + 1)),
  };
}
