/** One thing that was wrong with what was imported. */
export interface ImportProblem {
  /** For programs: which kind of problem this is. */
  readonly kind: string;
  /** File or folder it is about, relative to the source. */
  readonly file: string;
  /** 1-based; null where it is about no single line. */
  readonly line: number | null;
  /** For people. */
  readonly text: string;
}

/** Everything that was wrong: all of it counted, the first ones named. */
export interface ImportProblems {
  readonly total: number;
  /** By kind, in the order of their first occurrence. */
  readonly byKind: Readonly<Record<string, number>>;
  /** At most 100. */
  readonly listed: readonly ImportProblem[];
}

const MAX_LISTED = 100;

/** Counts problems and keeps the first of them, so that a million take no more memory than a hundred. */
export class ProblemList {
  private readonly counts = new Map<string, number>();
  private readonly listed: ImportProblem[] = [];
  private total = 0;

  /** Notes one problem; `line` is 1-based. */
  add(problem: Omit<ImportProblem, "line"> & { readonly line?: number }): void {
    const { kind, file, line = null, text } = problem;
    this.total += 1;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    if (this.listed.length < MAX_LISTED) this.listed.push({ kind, file, line, text });
  }

  /** What was noted so far. */
  summary(): ImportProblems {
    return { total: this.total, byKind: Object.fromEntries(this.counts), listed: [...this.listed] };
  }
}
