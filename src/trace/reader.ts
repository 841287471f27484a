import { readFileSync } from "node:fs";
import { EvowebError, messageOf } from "../errors.ts";
import { CLOCKS, FAILURE_CLASSES } from "./event.ts";
import type { TraceEvent } from "./event.ts";
import { cleanLineNotes, readJsonLines } from "./jsonl.ts";
import type { JsonRecord, LineNotes } from "./jsonl.ts";
import { knownCause, knownClass } from "./observations.ts";
import { readEvent, TRACE_VERSION } from "./read-event.ts";

/** Two verdicts for one check of one attempt and pass; the later one in the file counts. */
export interface Disagreement {
  readonly request: number;
  readonly check: number;
  readonly dropped: string;
  readonly kept: string;
  /** 1-based line of the one that counts. */
  readonly line: number;
}

/** Everything a reader met that was not plainly an event of this app; all zero and empty for a clean trace. */
export interface TraceNotes extends LineNotes {
  /** Records that stand word for word in the file already; they count once. */
  duplicates: number;
  readonly disagreements: Disagreement[];
  /** Events of a process that had lost its claim on the app; dropped. */
  staleEvents: number;
  /** Events of another app; dropped. */
  foreignEvents: number;
  /** Records of older versions, read as far as they fit. */
  olderEvents: number;
  unknownFields: number;
  /** Skipped records by their unknown type. */
  readonly unknownTypes: Map<string, number>;
  /** Unknown values of class, cause, status and clock ("cause: heat"), kept and read as `other`. */
  readonly unknownValues: Map<string, number>;
}

/** A trace as read. */
export interface TraceReading {
  /** In file order. */
  readonly events: readonly TraceEvent[];
  readonly notes: TraceNotes;
}

const statuses: ReadonlySet<string> = new Set(["completed", ...FAILURE_CLASSES.agent, ...FAILURE_CLASSES.infra]);
const clocks: ReadonlySet<string> = new Set(CLOCKS);

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Notes of a trace nobody has found a fault with. */
export function cleanTraceNotes(): TraceNotes {
  return {
    ...cleanLineNotes(),
    duplicates: 0,
    disagreements: [],
    staleEvents: 0,
    foreignEvents: 0,
    olderEvents: 0,
    unknownFields: 0,
    unknownTypes: new Map(),
    unknownValues: new Map(),
  };
}

class Collector {
  readonly events: TraceEvent[] = [];
  readonly notes = cleanTraceNotes();
  private readonly seen = new Set<string>();
  private readonly verdicts = new Map<number, string>();
  private fence = 0;
  private readonly name: string;
  private sampleIndex: number | null;

  constructor(name: string, sampleIndex: number | null) {
    this.name = name;
    this.sampleIndex = sampleIndex;
  }

  add({ value, line, text }: JsonRecord): void {
    const reading = readEvent(value);
    switch (reading.status) {
      case "event":
        this.notes.unknownFields += reading.unknownFields;
        this.keep(reading.event, line, text);
        return;
      case "unknown_type":
        addOne(this.notes.unknownTypes, reading.type);
        return;
      case "bad":
        this.notes.badLines.push({ line, reason: reading.reason });
        return;
      case "unknown_verdict":
        throw new EvowebError(
          "trace",
          `${this.name} line ${line}: the verdict ${reading.verdict} is unknown, so the run cannot be scored. Mend or remove the line.`,
        );
      case "newer":
        throw new EvowebError(
          "trace",
          `${this.name} line ${line}: written as trace version ${reading.version}; this evoweb reads version ${TRACE_VERSION}. Update evoweb.`,
        );
    }
  }

  private keep(event: TraceEvent, line: number, text: string): void {
    this.sampleIndex ??= event.sampleIndex;
    if (event.sampleIndex !== this.sampleIndex) {
      this.notes.foreignEvents += 1;
    } else if (event.fence < this.fence) {
      this.notes.staleEvents += 1;
    } else if (this.seen.has(text)) {
      this.notes.duplicates += 1;
    } else {
      this.seen.add(text);
      this.fence = event.fence;
      if (event.v !== TRACE_VERSION) this.notes.olderEvents += 1;
      this.note(event, line);
      this.events.push(event);
    }
  }

  private note(event: TraceEvent, line: number): void {
    if (event.type === "check_judged") {
      this.noteDisagreement(event, line);
      if (event.cause !== "judged") this.noteValue("cause", event.cause, knownCause(event.cause) !== "other");
      if (event.class !== undefined) this.noteValue("class", event.class, knownClass(event.class) !== "other");
    } else if (event.type === "app_down") {
      this.noteValue("class", event.class, knownClass(event.class) !== "other");
    } else if (event.type === "agent_finished") {
      this.noteValue("status", event.status, statuses.has(event.status));
      if (event.limit !== undefined) this.noteValue("clock", event.limit.clock, clocks.has(event.limit.clock));
    }
  }

  private noteValue(field: string, value: string, isKnown: boolean): void {
    if (!isKnown) addOne(this.notes.unknownValues, `${field}: ${value}`);
  }

  private noteDisagreement(event: Extract<TraceEvent, { type: "check_judged" }>, line: number): void {
    const { request, check, attempt, pass, verdict } = event;
    // Numbers as keys, because this runs once per verdict; each part has room far above anything real.
    const key = (((request * 1024 + check) * 1024 + attempt) * 1024 + pass) * 2 + (event.sweep === true ? 1 : 0);
    const earlier = this.verdicts.get(key);
    if (earlier !== undefined && earlier !== verdict) {
      this.notes.disagreements.push({ request, check, dropped: earlier, kept: verdict, line });
    }
    this.verdicts.set(key, verdict);
  }
}

/**
 * Reads the bytes of a `trace.jsonl`. `name` is how messages call the file; `sampleIndex` the app it should be about, or null
 * to take that of its first event. Throws `trace` for an unknown verdict and for a newer version.
 */
export function parseTrace(bytes: Buffer, name: string, sampleIndex: number | null): TraceReading {
  const collector = new Collector(name, sampleIndex);
  const lines = readJsonLines(bytes, (record) => collector.add(record));
  const { notes, events } = collector;
  const badLines = [...lines.badLines, ...notes.badLines].sort((a, b) => a.line - b.line);
  return { events, notes: { ...notes, ...lines, badLines } };
}

/** Reads a `trace.jsonl`; throws `io` when it cannot be read, else as `parseTrace`. */
export function readTrace(path: string, sampleIndex: number | null): TraceReading {
  return parseTrace(readBytes(path), path, sampleIndex);
}

/** The bytes of a file; throws `io`, naming it. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new EvowebError("io", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
