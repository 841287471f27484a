import { describe, expect, it } from "vitest";
import { decodeBytes } from "../../src/trace/jsonl.ts";
import { observeApp } from "../../src/trace/observe-app.ts";
import { cleanTraceNotes, parseTrace } from "../../src/trace/reader.ts";
import type { TraceNotes, TraceReading } from "../../src/trace/reader.ts";
import { DAMAGES } from "./damage.ts";
import { judged, makeEvent, ranRequest, tinyRows, toJsonl } from "./sample-events.ts";

const ALL_YES = ["YES", "YES", "YES", "YES", "YES"] as const;
const events = [...ranRequest(1, ALL_YES), ...ranRequest(2, ["YES", "NO", "YES", "YES", "YES"])].map((fact) =>
  makeEvent(fact),
);
const good = Buffer.from(toJsonl(events));
const read = (bytes: Buffer | string): TraceReading => parseTrace(decodeBytes(Buffer.from(bytes)), "trace.jsonl", 1);
const [sampled] = tinyRows(1, 2);

function states(reading: TraceReading): unknown[] {
  if (sampled === undefined) throw new Error("no row");
  return [...observeApp(sampled, reading.events).observations.requests.values()].map(({ state }) => state);
}

function notesBut(notes: TraceNotes, change: Partial<TraceNotes>): void {
  expect(notes).toEqual({ ...cleanTraceNotes(), ...change });
}

describe("a trace that came to harm (B76, B77)", () => {
  it("a whole trace has no notes", () => {
    const reading = read(good);
    expect(reading.events).toEqual(events);
    notesBut(reading.notes, {});
    expect(states(reading)).toEqual(["run", "run"]);
  });

  it("torn: all before the torn line is kept, the turn it belongs to is unfinished, not failed", () => {
    const reading = read(DAMAGES["torn tail"](good));
    expect(reading.events).toEqual(events.slice(0, -1));
    notesBut(reading.notes, { tornLine: events.length });
    expect(states(reading)).toEqual(["run", "unfinished"]);
  });

  it("torn, then appended to by a writer that did not start a new line: only the torn record is lost", () => {
    const reading = read(DAMAGES["torn, then appended to"](good));
    expect(reading.events).toEqual(events.slice(0, -1));
    notesBut(reading.notes, {
      badLines: [{ line: events.length, reason: "a record was cut off; the others on the line were read" }],
      unknownTypes: new Map([["note", 1]]),
    });
  });

  it("torn inside a letter", () => {
    const reading = read(DAMAGES["torn inside a letter"](good));
    expect(reading.events).toEqual(events);
    notesBut(reading.notes, { tornLine: events.length + 1, invalidUtf8Lines: [events.length + 1] });
  });

  it("a last record that only lacks its line feed is whole", () => {
    const reading = read(DAMAGES["no final line feed"](good));
    expect(reading.events).toEqual(events);
    notesBut(reading.notes, {});
  });

  it("two records on one line are both read, also when texts hold braces and quotes", () => {
    const notes = [
      { ...makeEvent(judged(1, 0, "YES")), text: 'a } { inside a text: "}{"' },
      makeEvent(judged(1, 1, "NO")),
    ];
    const reading = read(`${JSON.stringify(notes[0])}${JSON.stringify(notes[1])}\n${JSON.stringify(notes[0])}\n`);
    expect(reading.events).toEqual(notes);
    notesBut(reading.notes, { gluedLines: [1], duplicates: 1, unknownFields: 1 });
    const glued = read(DAMAGES.glued(good));
    expect(glued.events).toEqual(events);
    expect(glued.notes.gluedLines).toHaveLength(1);
  });

  it("lines that two writers mixed are named, and whole records among them are read", () => {
    const [first = "", second = ""] = toJsonl(events).split("\n");
    const mixed = `${first.slice(0, 40)}${second.slice(0, 30)}\n${first.slice(40)}${second.slice(30)}\n${second}\n`;
    const reading = read(mixed);
    expect(reading.events).toEqual(events.slice(1, 2));
    expect(reading.notes.badLines.map(({ line }) => line)).toEqual([1, 2]);
  });

  it("a broken line in the middle is named and left out", () => {
    const reading = read(DAMAGES["a broken line in the middle"](good));
    expect(reading.events).toEqual(events.toSpliced(8, 1));
    notesBut(reading.notes, { badLines: [{ line: 9, reason: "not a whole JSON object" }] });
  });

  it("a record that breaks the schema is named with its field", () => {
    const broken = { ...makeEvent(judged(1, 0, "YES")), check: -1 };
    expect(read(toJsonl([...events, broken])).notes.badLines).toEqual([
      { line: events.length + 1, reason: expect.stringMatching(/^check: /) },
    ]);
    expect(read('{"v":1}\n[1]\n7\n').notes.badLines.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it.each(["a block of NUL bytes at the end", "NUL bytes before a record"] as const)(
    "%s are skipped and counted",
    (name) => {
      const reading = read(DAMAGES[name](good));
      expect(reading.events).toEqual(events);
      expect(reading.notes.nulBytes).toBeGreaterThan(500);
    },
  );

  it.each(["a byte order mark", "Windows line ends"] as const)("%s changes nothing", (name) => {
    const reading = read(DAMAGES[name](good));
    expect(reading.events).toEqual(events);
    notesBut(reading.notes, {});
  });

  it("an empty file holds nothing", () => {
    const reading = read(DAMAGES.empty());
    expect(reading.events).toEqual([]);
    notesBut(reading.notes, {});
  });

  it("a megabyte of braces on one line is given up on in time", () => {
    expect(read("{".repeat(1_000_000)).notes.tornLine).toBe(1);
  });
});

describe("records that stand twice (B82)", () => {
  it("exact doubles, a single line or a whole turn, count once", () => {
    const [, ...rest] = toJsonl(events).trimEnd().split("\n");
    const lines = [...toJsonl(events).trimEnd().split("\n"), ...rest];
    const reading = read(`${lines.join("\n")}\n`);
    expect(reading.events).toEqual(events);
    notesBut(reading.notes, { duplicates: rest.length });
  });

  it("of two verdicts that disagree the last in the file counts, and it is said", () => {
    const later = makeEvent(judged(1, 0, "NO"), { time: "2026-01-01T00:00:01.000Z" });
    const reading = read(toJsonl([...events, later]));
    notesBut(reading.notes, {
      disagreements: [{ request: 1, check: 0, dropped: "YES", kept: "NO", line: events.length + 1 }],
    });
    const seen = sampled === undefined ? undefined : observeApp(sampled, reading.events).observations.requests.get(1);
    expect(seen?.checks.get(0)?.verdict).toBe("NO");
  });

  it("a judgement of a later pass is no disagreement", () => {
    const again = makeEvent({ ...judged(1, 0, "NO"), pass: 2 });
    notesBut(read(toJsonl([...events, again])).notes, {});
  });
});

describe("other writers and versions (B80)", () => {
  it("what a process wrote after it had lost the app is dropped and counted", () => {
    const claimed = makeEvent({ type: "app_started", rowHash: "0" }, { fence: 2 });
    const late = makeEvent(judged(2, 0, "NO"), { fence: 1, time: "2026-01-01T00:00:09.000Z" });
    const reading = read(toJsonl([...events, claimed, late]));
    expect(reading.events).toEqual([...events, claimed]);
    notesBut(reading.notes, { staleEvents: 1 });
  });

  it("events of another app are dropped and counted", () => {
    notesBut(read(toJsonl([...events, makeEvent(judged(1, 0, "NO"), { sampleIndex: 2 })])).notes, { foreignEvents: 1 });
  });

  it("unknown kinds and fields are passed over with a count, and finished turns stay finished", () => {
    const old = events.map((event) => ({ ...event, v: 0, host: "old" }));
    const reading = read(toJsonl([{ v: 0, type: "browser_observation", payload: {} }, ...old]));
    notesBut(reading.notes, {
      unknownTypes: new Map([["browser_observation", 1]]),
      olderEvents: events.length,
      unknownFields: events.length,
    });
    expect(states(reading)).toEqual(["run", "run"]);
  });

  it("a newer version is refused with what to do", () => {
    expect(() => read(toJsonl([{ ...events[0], v: 99 }]))).toThrow(
      /trace\.jsonl line 1: written as trace version 99; this evoweb reads version 1\. Update evoweb/,
    );
  });

  it("unknown values are kept and counted", () => {
    const facts = [
      { ...judged(1, 0, "NO"), cause: "moonlight", class: "eclipse" },
      { type: "app_down" as const, request: 1, class: "gone_fishing", evidence: {} },
    ];
    const reading = read(toJsonl(facts.map((fact) => makeEvent(fact))));
    expect(reading.events[0]).toMatchObject({ cause: "moonlight", class: "eclipse" });
    notesBut(reading.notes, {
      unknownValues: new Map([
        ["cause: moonlight", 1],
        ["class: eclipse", 1],
        ["class: gone_fishing", 1],
      ]),
    });
  });

  it("an unknown verdict is a fault that names the line", () => {
    const lines = toJsonl([...events, { ...makeEvent(judged(1, 0, "YES")), verdict: "MAYBE" }]);
    expect(() => read(lines)).toThrow(`trace.jsonl line ${events.length + 1}: the verdict "MAYBE" is unknown`);
  });
});
