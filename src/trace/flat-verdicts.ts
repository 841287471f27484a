import { z } from "zod";
import { EvowebError } from "../errors.ts";
import { Verdict } from "./event.ts";
import { readJsonLines } from "./jsonl.ts";
import type { FileText, JsonRecord, LineNotes } from "./jsonl.ts";
import { knownCause } from "./observations.ts";
import type { AppObservations, Observation, RequestObservations, RequestState } from "./observations.ts";

const FlatRun = z.object({
  type: z.literal("run"),
  planned: z.array(z.int().min(1)).optional(),
  isolation: z.enum(["check", "request"]).nullable().optional(),
  observation: z.enum(["locf", "sweep"]).nullable().optional(),
});
const FlatRequest = z.object({
  type: z.literal("request"),
  sampleIndex: z.int().min(1),
  request: z.int().min(1),
  responded: z.boolean().nullable(),
  up: z.boolean().nullable(),
  /** How far the request came; told from its checks when absent. */
  state: z.enum(["run", "unfinished", "not_run", "no_artifact"]).optional(),
});
const FlatCheck = z.object({
  type: z.enum(["check", "sweep"]),
  sampleIndex: z.int().min(1),
  request: z.int().min(1),
  check: z.int().min(0),
  verdict: Verdict,
  cause: z.string(),
  class: z.string().optional(),
  rules: z.record(z.string(), Verdict).optional(),
});

/** One line of a flat verdicts file (docs/formats.md). */
export const FlatLine = z.discriminatedUnion("type", [FlatRun, FlatRequest, FlatCheck]);
export type FlatLine = z.infer<typeof FlatLine>;

/** A flat verdicts file as read. */
export interface FlatReading {
  /** Sample indexes of the planned apps: as the file says, else those that occur, in ascending order. */
  readonly planned: readonly number[];
  /** As the file says; null when it does not. */
  readonly isolation: "check" | "request" | null;
  readonly observation: "locf" | "sweep" | null;
  readonly apps: ReadonlyMap<number, AppObservations>;
  readonly notes: FlatNotes;
}

/** What the reader met besides good lines; a double or disagreeing line is counted, or refused. */
export interface FlatNotes extends LineNotes {
  duplicates: number;
  readonly unknownTypes: Map<string, number>;
  readonly unknownValues: Map<string, number>;
}

interface DraftRequest {
  line: Extract<FlatLine, { type: "request" }> | null;
  readonly checks: Map<number, Observation>;
}

interface DraftApp {
  readonly requests: Map<number, DraftRequest>;
  readonly sweep: Map<number, Map<number, Observation>>;
}

/** The types of lines a flat verdicts file may hold; others are skipped and counted. */
export const FLAT_TYPES: readonly unknown[] = ["run", "request", "check", "sweep"];

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

class Collector {
  run: z.infer<typeof FlatRun> | null = null;
  readonly apps = new Map<number, DraftApp>();
  readonly badLines: LineNotes["badLines"] = [];
  readonly unknownTypes = new Map<string, number>();
  readonly unknownValues = new Map<string, number>();
  duplicates = 0;
  private readonly seen = new Map<string, { readonly line: number; readonly meaning: string }>();
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  add({ value, line }: JsonRecord): void {
    const type = String(value["type"]);
    if (!FLAT_TYPES.includes(type)) {
      addOne(this.unknownTypes, type);
      return;
    }
    const result = FlatLine.safeParse(value);
    if (result.success) {
      if (this.isNew(result.data, line)) this.keep(result.data);
      return;
    }
    for (const { path, message } of result.error.issues.slice(0, 1)) {
      if (path[0] === "verdict") throw this.fault(line, `the verdict ${JSON.stringify(value["verdict"])} is unknown`);
      this.badLines.push({ line, reason: `${path.join(".")}: ${message}` });
    }
  }

  // The order of lines means nothing here, so two lines that disagree cannot be settled by which comes last.
  private isNew(flat: FlatLine, line: number): boolean {
    const key = keyOf(flat);
    const meaning = JSON.stringify(flat);
    const earlier = this.seen.get(key);
    this.seen.set(key, earlier ?? { line, meaning });
    if (earlier === undefined) return true;
    if (earlier.meaning !== meaning) throw this.fault(line, `it disagrees with line ${earlier.line}`);
    this.duplicates += 1;
    return false;
  }

  private keep(flat: FlatLine): void {
    if (flat.type === "run") {
      this.run = flat;
      return;
    }
    const app = entryOf(this.apps, flat.sampleIndex, () => ({ requests: new Map(), sweep: new Map() }));
    if (flat.type === "sweep") {
      entryOf(app.sweep, flat.request, () => new Map()).set(flat.check, this.observe(flat));
      return;
    }
    const request = entryOf(app.requests, flat.request, () => ({ line: null, checks: new Map() }));
    if (flat.type === "request") request.line = flat;
    else request.checks.set(flat.check, this.observe(flat));
  }

  private observe({ verdict, cause, class: name, rules }: z.infer<typeof FlatCheck>): Observation {
    if (knownCause(cause) === "other") addOne(this.unknownValues, `cause: ${cause}`);
    return { verdict, cause, class: name, ...(rules === undefined ? {} : { rules }) };
  }

  private fault(line: number, what: string): EvowebError {
    return new EvowebError("trace", `${this.name} line ${line}: ${what}. Mend or remove the line.`);
  }
}

function keyOf(flat: FlatLine): string {
  if (flat.type === "run") return "run";
  const place = `${flat.type} ${flat.sampleIndex} ${flat.request}`;
  return flat.type === "request" ? place : `${place} ${flat.check}`;
}

const isReached = ({ verdict, cause }: Observation): boolean => verdict !== "MISSING" || cause !== "not_reached";

function stateOf(seen: readonly Observation[], isKnown: boolean): RequestState {
  if (hasNoArtifact(seen)) return "no_artifact";
  return seen.some(isReached) || isKnown ? "run" : "not_run";
}

const hasNoArtifact = (seen: readonly Observation[]): boolean =>
  seen.length > 0 && seen.every(({ cause }) => cause === "no_artifact");

function settleRequest({ line, checks }: DraftRequest): RequestObservations {
  const seen = [...checks.values()];
  const unknown = hasNoArtifact(seen) ? false : null;
  const responded = line?.responded ?? unknown;
  const up = line?.up ?? unknown;
  const state = line?.state ?? stateOf(seen, responded !== null || up !== null);
  return { state, responded, up, checks };
}

/**
 * Reads the text of a flat verdicts file; `name` is how messages call it. The order of lines does not matter. Throws `trace`
 * for an unknown verdict and for two lines that disagree, naming them.
 */
export function parseFlatVerdicts(file: FileText, name: string): FlatReading {
  const collector = new Collector(name);
  const lines = readJsonLines(file, (record) => collector.add(record));
  const apps = new Map<number, AppObservations>();
  for (const [sampleIndex, draft] of collector.apps) {
    const requests = new Map([...draft.requests].map(([number, request]) => [number, settleRequest(request)] as const));
    apps.set(sampleIndex, { sampleIndex, requests, sweep: draft.sweep.size === 0 ? null : draft.sweep });
  }
  const { badLines, duplicates, unknownTypes, unknownValues } = collector;
  return {
    isolation: collector.run?.isolation ?? null,
    observation: collector.run?.observation ?? null,
    planned: collector.run?.planned ?? [...apps.keys()].sort((a, b) => a - b),
    apps,
    notes: {
      ...lines,
      badLines: [...lines.badLines, ...badLines].sort((a, b) => a.line - b.line),
      duplicates,
      unknownTypes,
      unknownValues,
    },
  };
}
