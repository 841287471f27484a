import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import { FlatLine, parseFlatVerdicts } from "../trace/flat-verdicts.ts";
import type { AppObservations, RequestObservations } from "../trace/observations.ts";
import { AppBuckets } from "./app-buckets.ts";
import type { ImportSource } from "./import-source.ts";
import type { ProblemList } from "./problems.ts";

/** A record of a flat file before it is known to be good. */
export interface FlatRecord {
  readonly value: Readonly<Record<string, unknown>>;
  /** 1-based. */
  readonly line: number;
}

/** What to import from a file of flat lines. */
export interface FlatSearch {
  readonly source: string;
  readonly rows: readonly SampledRow[];
  readonly problems: ProblemList;
  readonly assumeResponded: boolean;
}

type RunLine = Extract<FlatLine, { type: "run" }>;

class FlatSorter {
  run: RunLine | null = null;
  readonly seen = new Set<number>();
  private readonly search: FlatSearch;
  private readonly buckets: AppBuckets;
  private readonly known: ReadonlySet<number>;

  constructor(search: FlatSearch, buckets: AppBuckets) {
    this.search = search;
    this.buckets = buckets;
    this.known = new Set(search.rows.map(({ sampleIndex }) => sampleIndex));
  }

  add({ value, line }: FlatRecord): void {
    const result = FlatLine.safeParse(value);
    if (!result.success) {
      const issue = result.error.issues[0];
      this.problem("bad_line", line, `left out: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
      return;
    }
    const flat = result.data;
    if (flat.type === "run") this.keepRun(flat, line);
    else if (!this.known.has(flat.sampleIndex))
      this.problem("not_planned", line, `the rows have no app ${flat.sampleIndex}; left out`);
    else {
      this.seen.add(flat.sampleIndex);
      this.buckets.add(flat.sampleIndex, `${line}\t${JSON.stringify(flat)}`);
    }
  }

  private keepRun(run: RunLine, line: number): void {
    if (this.run !== null) this.problem("repeated", line, "a second run line; the first counts");
    this.run ??= run;
  }

  private problem(kind: string, line: number, text: string): void {
    this.search.problems.add({ kind, file: this.search.source, line, text });
  }
}

const placeOf = ({ type, ...flat }: FlatLine): string =>
  [type, "request" in flat ? flat.request : "", "check" in flat ? flat.check : ""].join(" ");

/** Each statement once; the order of lines means nothing, so two that disagree cannot be settled. */
function withoutDoubles(records: readonly string[], { source, problems }: FlatSearch): readonly string[] {
  const first = new Map<string, { readonly line: number; readonly text: string }>();
  for (const record of records) {
    const tab = record.indexOf("\t");
    const [line, text] = [Number(record.slice(0, tab)), record.slice(tab + 1)];
    const place = placeOf(FlatLine.parse(JSON.parse(text)));
    const earlier = first.get(place);
    first.set(place, earlier ?? { line, text });
    if (earlier === undefined) continue;
    if (earlier.text !== text) {
      throw new EvowebError(
        "trace",
        `${source} line ${line}: it disagrees with line ${earlier.line}. Mend or remove one.`,
      );
    }
    problems.add({ kind: "duplicate", file: source, line, text: `says the same as line ${earlier.line}` });
  }
  return [...first.values()].map(({ text }) => text);
}

function assume(requests: ReadonlyMap<number, RequestObservations>): ReadonlyMap<number, RequestObservations> {
  return new Map(
    [...requests].map(([number, seen]) => [number, { ...seen, responded: seen.responded ?? true }] as const),
  );
}

/** Takes a file's records in one pass, and then gives them app by app. Throws `trace` for two lines that disagree. */
export async function openFlat(search: FlatSearch, records: AsyncIterable<FlatRecord>): Promise<ImportSource> {
  const buckets = new AppBuckets();
  const sorter = new FlatSorter(search, buckets);
  try {
    for await (const record of records) sorter.add(record);
  } catch (error) {
    buckets[Symbol.dispose]();
    throw error;
  }
  const { run, seen } = sorter;
  const planned = run?.planned === undefined ? seen : new Set(run.planned);
  return {
    planned: search.rows.filter(({ sampleIndex }) => planned.has(sampleIndex)),
    isolation: run?.isolation ?? null,
    observation: run?.observation ?? null,
    read({ sampleIndex }): AppObservations {
      const text = withoutDoubles(buckets.take(sampleIndex), search)
        .map((line) => `${line}\n`)
        .join("");
      const app = parseFlatVerdicts({ text, isDamaged: false }, search.source).apps.get(sampleIndex);
      if (app === undefined) return { sampleIndex, requests: new Map(), sweep: null };
      return search.assumeResponded ? { ...app, requests: assume(app.requests) } : app;
    },
    [Symbol.dispose]: () => buckets[Symbol.dispose](),
  };
}
