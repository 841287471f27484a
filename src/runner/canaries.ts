import { createHash } from "node:crypto";
import type { Row } from "../dataset/row.ts";
import type { Integrity } from "../trace/event.ts";

// Eight words in a row are rarely the same by chance; shorter texts say nothing.
const RUN_OF_WORDS = 8;

/** What an agent must not know of a row. */
export interface CanaryOptions {
  readonly row: Row;
  /** Absolute paths of the judge's files: run folder, data set. */
  readonly judgePaths: readonly string[];
  /** What every agent is told beside the requests. */
  readonly preamble: string;
}

/**
 * Looks for the judge's material in what an agent sends, writes and prints: runs of words that stand in a check or in a
 * later request and in nothing that the agent was told, and paths of the judge's files.
 */
export class CanaryWatch {
  readonly #options: CanaryOptions;
  readonly #seen = new Set<string>();
  #sources: ReadonlyMap<string, string> = new Map();
  #hits = new Set<string>();
  #files = new Set<string>();

  constructor(options: CanaryOptions) {
    this.#options = options;
  }

  /** From now on, what is found belongs to this request, and requests up to it are known to the agent. */
  begin(request: number): void {
    const { row, preamble } = this.#options;
    const told = new Set([preamble, ...row.requests.slice(0, request).map((r) => r.instruction)].flatMap(runsOfWords));
    const secret = row.requests.flatMap(({ number, instruction, checks }) => [
      ...(number > request ? [[`request ${number}`, instruction] as const] : []),
      ...checks.map(
        ({ task, expectedResult }, index) => [`check ${number}.${index}`, `${task}\n${expectedResult}`] as const,
      ),
    ]);
    const sources = new Map<string, string>();
    for (const [source, text] of secret) {
      for (const run of runsOfWords(text)) if (!told.has(run)) sources.set(run, source);
    }
    this.#sources = sources;
    this.#hits = new Set();
    this.#files = new Set();
  }

  /** Looks at a text, once. */
  look(text: string): void {
    const hash = createHash("sha1").update(text).digest("base64");
    if (this.#seen.has(hash)) return;
    this.#seen.add(hash);
    for (const run of runsOfWords(text)) {
      const source = this.#sources.get(run);
      if (source !== undefined) this.#hits.add(source);
    }
    for (const path of this.#options.judgePaths) if (text.includes(path)) this.#files.add(path);
  }

  /** Looks at the strings of a body that an agent sends. Each call repeats the conversation, so known ones are passed over. */
  lookAtBody(body: string): void {
    try {
      for (const text of stringsOf(JSON.parse(body))) this.look(text);
    } catch {
      this.look(body);
    }
  }

  /** What was found for the current request; `isComplete` says whether all that the agent sent could be looked at. */
  result(isComplete: boolean): Integrity {
    const canaryHits = this.#hits.size;
    const judgeFilesSeen = [...this.#files];
    const isTouched = canaryHits > 0 || judgeFilesSeen.length > 0;
    return { canaryHits, judgeFilesSeen, verdict: isTouched ? "touched" : isComplete ? "clean" : "unknown" };
  }
}

function runsOfWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const runs: string[] = [];
  for (let at = 0; at + RUN_OF_WORDS <= words.length; at += 1) runs.push(words.slice(at, at + RUN_OF_WORDS).join(" "));
  return runs;
}

function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) yield* stringsOf(inner);
}
