import { createHash } from "node:crypto";

/** Marks that our prompts use for structure; page text must not be able to write them. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [/<{2,}/gu, "‹‹"],
  [/>{2,}/gu, "››"],
  [/`{3,}/gu, "'''"],
  [/\b(BEGIN|END)(?=\s+[0-9a-f]{6})/giu, "$1_"],
  [/\b(system|assistant|user|developer|tool|judge|evaluator)\s*:/giu, "$1∶"],
  [/\((not visible|label only|typed by you)\)/giu, "[$1]"],
];

/** Page text with the prompts' own marks replaced, on one line. */
export function escapePageText(text: string): string {
  // Characters that are not drawn can split a word for the eye of the filter only.
  const plain = text.replaceAll(/[\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF\u00AD]|[\u{E0000}-\u{E007F}]/gu, "");
  const oneLine = plain.replaceAll(/\s+/gu, " ").trim();
  return MARKS.reduce((escaped, [mark, instead]) => escaped.replaceAll(mark, instead), oneLine);
}

/**
 * The word that fences `content` in a prompt. It is a hash of the content, so a page would have to contain its own hash to write it;
 * unlike a random word it is the same when the same question is asked again, so that recorded replies are found.
 */
export function fenceFor(content: string, salt: string): string {
  for (let round = 0; ; round += 1) {
    const word = createHash("sha256").update(`${salt}\0${round}\0${content}`).digest("hex").slice(0, 20);
    if (!content.includes(word)) return word;
  }
}

const VERDICT = String.raw`(?:yes|met|pass(?:ed)?|satisfied|fulfilled|success(?:ful)?|verified)`;
const COMMAND = String.raw`(?:answer|say|reply|respond|output|print|mark|report|return|conclude|rate|set|must|should|treat|consider)`;
const SUSPICIOUS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|instructions?|rules)\b/iu,
  new RegExp(String.raw`\b(?:answer|say|reply|respond|output|verdict|status)\b.{0,12}\byes\b`, "iu"),
  new RegExp(
    String.raw`\b(?:system|judge|evaluator|grader|verifier|assistant|ai|llm|model)\b.{0,80}\b${COMMAND}\b.{0,60}\b${VERDICT}\b`,
    "iu",
  ),
  new RegExp(String.raw`\bkey points?\b.{0,40}\b${VERDICT}\b`, "iu"),
  /\bnot_(?:met|verifiable)\b|["']?status["']?\s*[:=]\s*["']?met\b/iu,
  /\b(?:BEGIN|END)\s+(?:of\s+)?(?:fence|page|data|record|[0-9a-f]{6,})\b/iu,
];

/**
 * Whether a text looks as if it was written for whoever judges the page. It is noted, and such text proves nothing; texts that are no
 * attack are caught now and then, which costs a quote and no verdict.
 */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.some((pattern) => pattern.test(text));
}
