import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";
import { EvowebError, messageOf } from "../errors.ts";

/** What a model answered to one question, as stored. */
const Recording = z.strictObject({
  text: z.string().nullable(),
  refusal: z.string().nullable(),
  finishReason: z.string(),
  modelId: z.string(),
  /** Tries that the answer took. */
  calls: z.int().min(1),
  inputTokens: z.int().min(0).nullable(),
  outputTokens: z.int().min(0).nullable(),
  durationMs: z.number().min(0),
});
export type Recording = z.infer<typeof Recording>;

const Line = z.strictObject({ hash: z.string().length(64), model: z.string(), role: z.string(), reply: Recording });

/**
 * `record`: every question is asked, once, and stored; `replay`: nothing is ever asked; `auto`: only what is not stored is asked,
 * and then stored.
 */
export type CassetteMode = "record" | "replay" | "auto";

/** Which question it is. */
interface Question {
  /** From `requestHash`. */
  readonly hash: string;
  readonly model: string;
  readonly role: string;
}

/** A file of questions (by hash) and answers. */
export interface Cassette extends Disposable {
  readonly file: string;
  /** The stored answer, or what `ask` answers, stored; null when there is none and nothing may be asked. */
  answer(question: Question, ask: () => Promise<Recording>): Promise<Recording | null>;
}

/** How a cassette is opened. */
export interface CassetteOptions {
  readonly mode: CassetteMode;
  /** Removes secrets from what is stored; replies are given out as stored. Default: nothing is removed. */
  readonly mask?: (text: string) => string;
}

/**
 * Opens a cassette. One question has one answer: in `record` mode, answers of earlier recordings are asked anew, and the newest
 * counts. Throws `EvowebError("usage")` when there is nothing to replay, `EvowebError("io")` for a file that is no cassette.
 */
export function openCassette(file: string, { mode, mask = (text) => text }: CassetteOptions): Cassette {
  const stored = readCassette(file, mode);
  const known = mode === "record" ? new Map<string, Recording>() : stored.recordings;
  const descriptor = mode === "replay" ? null : openSync(file, "a");
  // What a crash left of a last line would spoil the next one.
  if (descriptor !== null) ftruncateSync(descriptor, stored.wholeBytes);
  const store = (question: Question, answer: Recording): Recording => {
    const earlier = known.get(question.hash);
    // The same question was asked at the same time; both must get what a replay will give.
    if (earlier !== undefined || descriptor === null) return earlier ?? answer;
    const line = mask(JSON.stringify({ ...question, reply: answer }));
    writeSync(descriptor, `${line}\n`);
    const { reply } = Line.parse(JSON.parse(line));
    known.set(question.hash, reply);
    return reply;
  };
  return {
    file,
    async answer(question, ask) {
      const found = known.get(question.hash);
      if (found !== undefined) return found;
      return descriptor === null ? null : store(question, await ask());
    },
    [Symbol.dispose]() {
      if (descriptor !== null) closeSync(descriptor);
    },
  };
}

function readCassette(file: string, mode: CassetteMode): { recordings: Map<string, Recording>; wholeBytes: number } {
  const recordings = new Map<string, Recording>();
  const bytes = readIfAny(file);
  if (bytes === null) {
    if (mode !== "replay") return { recordings, wholeBytes: 0 };
    throw new EvowebError("usage", `there is no cassette ${file} to replay; record one with --cassette-mode record`);
  }
  const wholeBytes = bytes.lastIndexOf("\n") + 1;
  const lines = bytes.subarray(0, wholeBytes).toString("utf8").split("\n").slice(0, -1);
  for (const [index, text] of lines.entries()) {
    const line = parseLine(text);
    if (line === null)
      throw new EvowebError(
        "io",
        `line ${index + 1} of the cassette ${file} is no recording; remove it or record anew`,
      );
    recordings.set(line.hash, line.reply);
  }
  return { recordings, wholeBytes };
}

function readIfAny(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new EvowebError("io", `cannot read the cassette ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function parseLine(text: string): z.infer<typeof Line> | null {
  try {
    return Line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
