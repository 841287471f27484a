import { EvowebError } from "../errors.ts";
import { CLOCKS, FAILURE_CLASSES, TraceEvent } from "./event.ts";
import { cleanLineNotes, readFileText, readJsonLines } from "./jsonl.ts";
import type { FileText, JsonRecord, LineNotes } from "./jsonl.ts";
import { knownCause, knownClass } from "./observations.ts";
import { readEvent, TRACE_VERSION } from "./read-event.ts";

/** Two verdicts for one check of one attempt and pass; the later one in the file counts. */
interface Disagreement {
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
  /** Text of each kept event. */
  private readonly texts: string[] = [];
  /** Position of the last kept event about the same thing. */
  private readonly latest = new Map<number | string, number>();
  /** Texts of events that are not the first about their thing. */
  private readonly repeats = new Set<string>();
  private fence = 0;
  private readonly name: string;
  private sampleIndex: number | null;

  constructor(name: string, sampleIndex: number | null) {
    this.name = name;
    this.sampleIndex = sampleIndex;
  }

  readonly add = ({ value, line, text }: JsonRecord): void => {
    const reading = readEvent(value);
    switch (reading.status) {
      case "event":
        if (this.keep(reading.event, line, text)) this.notes.unknownFields += reading.unknownFields;
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
  };

  private keep(event: TraceEvent, line: number, text: string): boolean {
    this.sampleIndex ??= event.sampleIndex;
    if (event.sampleIndex !== this.sampleIndex) {
      this.notes.foreignEvents += 1;
      return false;
    }
    if (event.fence < this.fence) {
      this.notes.staleEvents += 1;
      return false;
    }
    if (this.isDouble(event, line, text)) {
      this.notes.duplicates += 1;
      return false;
    }
    this.fence = event.fence;
    if (event.v !== TRACE_VERSION) this.notes.olderEvents += 1;
    this.note(event);
    this.events.push(event);
    this.texts.push(text);
    return true;
  }

  private isDouble(event: TraceEvent, line: number, text: string): boolean {
    const key = keyOf(event);
    const index = this.latest.get(key);
    if (index !== undefined) {
      if (this.texts[index] === text || this.repeats.has(text)) return true;
      this.repeats.add(text).add(this.texts[index] ?? "");
      this.noteDisagreement(this.events[index], event, line);
    }
    this.latest.set(key, this.events.length);
    return false;
  }

  private note(event: TraceEvent): void {
    if (event.type === "check_judged") {
      if (event.cause !== "judged") this.noteValue("cause", event.cause, knownCause(event.cause) !== "other");
      if (event.class !== undefined) this.noteValue("class", event.class, knownClass(event.class) !== "other");
    } else if (event.type === "app_down" && event.class !== null) {
      this.noteValue("class", event.class, knownClass(event.class) !== "other");
    } else if (event.type === "agent_finished") {
      this.noteValue("status", event.status, statuses.has(event.status));
      if (event.limit !== undefined) this.noteValue("clock", event.limit.clock, clocks.has(event.limit.clock));
    }
  }

  private noteValue(field: string, value: string, isKnown: boolean): void {
    if (!isKnown) addOne(this.notes.unknownValues, `${field}: ${value}`);
  }

  private noteDisagreement(earlier: TraceEvent | undefined, event: TraceEvent, line: number): void {
    if (earlier?.type !== "check_judged" || event.type !== "check_judged" || earlier.verdict === event.verdict) return;
    const { request, check, verdict } = event;
    this.notes.disagreements.push({ request, check, dropped: earlier.verdict, kept: verdict, line });
  }
}

const TYPES = new Map(TraceEvent.options.map(({ shape }, index) => [shape.type.value, index] as const));

/** What an event is about; the same for two events of which one at most can count. */
function keyOf(event: TraceEvent): number | string {
  const type = TYPES.get(event.type) ?? 0;
  const { attempt } = event;
  if (event.type === "app_started" || event.type === "app_finished") return `${type} ${attempt}`;
  const { request } = event;
  if (event.type !== "check_judged")
    return request < 64 && attempt < 32 ? smallKey(type, request, attempt) : `${type} ${request} ${attempt}`;
  return keyOfVerdict(event);
}

function keyOfVerdict(event: Extract<TraceEvent, { type: "check_judged" }>): number | string {
  const { request, attempt, check, pass, sweep, snapshot } = event;
  // A small whole number is by far the cheapest key, and nearly every event has one.
  if (snapshot === undefined && request < 64 && check < 64 && attempt < 32 && pass < 32) {
    return smallKey(sweep === true ? SWEEP_TYPE : VERDICT_TYPE, request, attempt) + (check * 32 + pass) * 32_768;
  }
  return `${VERDICT_TYPE} ${request} ${check} ${attempt} ${pass} ${sweep === true} ${snapshot ?? ""}`;
}

const SWEEP_TYPE = 15;
const VERDICT_TYPE = TYPES.get("check_judged") ?? 0;

/** Below 32,768; each part has room for what real traces hold. */
function smallKey(type: number, request: number, attempt: number): number {
  return (type * 64 + request) * 32 + attempt;
}

/**
 * Reads the text of a `trace.jsonl`. `name` is how messages call the file; `sampleIndex` the app it should be about, or null
 * to take that of its first event. Throws `trace` for an unknown verdict and for a newer version.
 */
export function parseTrace(file: FileText, name: string, sampleIndex: number | null): TraceReading {
  const { events, notes, add } = new Collector(name, sampleIndex);
  readJsonLines(file, add, notes);
  return { events, notes };
}

/** Reads a `trace.jsonl`; throws `io` when it cannot be read, else as `parseTrace`. */
export function readTrace(path: string, sampleIndex: number | null): TraceReading {
  return parseTrace(readFileText(path), path, sampleIndex);
}
