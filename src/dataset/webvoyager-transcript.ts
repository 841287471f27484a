/** What a reply of the published protocol asks for. */
export type WebvoyagerAction =
  | { readonly kind: "click"; readonly label: number }
  | { readonly kind: "type"; readonly label: number; readonly text: string }
  | { readonly kind: "scroll"; readonly label: number | "WINDOW"; readonly direction: "up" | "down" }
  | { readonly kind: "wait" }
  | { readonly kind: "goback" }
  | { readonly kind: "google" }
  | { readonly kind: "answer"; readonly text: string };

type Reader = readonly [RegExp, (first: string, second: string) => WebvoyagerAction];

// The published patterns in the published order: the first that matches anywhere wins. "[^\n]" is Python's dot.
const READERS: readonly Reader[] = [
  [/Click \[?(\d+)\]?/u, (label) => ({ kind: "click", label: Number(label) })],
  [
    /Type \[?(\d+)\]?[; ]+\[?([^\n][^\]]*)\]?/u,
    (label, text) => ({ kind: "type", label: Number(label), text: text.replaceAll(/^["']+|["']+$/gu, "") }),
  ],
  [
    /Scroll \[?(\d+|WINDOW)\]?[; ]+\[?(up|down)\]?/u,
    (label, direction) => ({
      kind: "scroll",
      label: label === "WINDOW" ? label : Number(label),
      direction: direction === "up" ? "up" : "down",
    }),
  ],
  [/^Wait/u, () => ({ kind: "wait" })],
  [/^GoBack/u, () => ({ kind: "goback" })],
  [/^Google/u, () => ({ kind: "google" })],
  [/ANSWER[; ]+\[?([^\n][^\]]*)\]?/u, (text) => ({ kind: "answer", text })],
];

/**
 * Reads a reply as the published protocol does: it must hold "Thought:" and "Action:", and what follows the second of the
 * markers is searched. `malformed` when a marker is missing, `none` when no action is found.
 */
export function parseReply(
  reply: string,
): WebvoyagerAction | { readonly kind: "malformed" } | { readonly kind: "none" } {
  if (!reply.includes("Thought:") || !reply.includes("Action:")) return { kind: "malformed" };
  const asked = (reply.split(/Thought:|Action:|Observation:/u)[2] ?? "").trim();
  for (const [pattern, read] of READERS) {
    const match = pattern.exec(asked);
    if (match !== null) return read(match[1] ?? "", match[2] ?? "");
  }
  return { kind: "none" };
}

/** One message of `interact_messages.json`; of its parts only texts are read. */
export interface TranscriptMessage {
  readonly role: string;
  readonly content: string | null | readonly { readonly type: string; readonly text?: string | undefined }[];
}

/** How the last call is asked for its verdict; the message begins with it. */
export const LIMIT_TEXT = "You have reached the maximum number of allowed interactions with the website.";

/**
 * How a transcript ended. `answered`: the model finished. `forced_verdict`: it replied to the limit text. `driver_failure`: it
 * asked for something else and was never told the outcome. `api_failure`: its reply never came. `empty`: it was never asked.
 */
type TranscriptEnd = "answered" | "forced_verdict" | "driver_failure" | "api_failure" | "empty";

/** A transcript under both verdict rules. */
export interface TranscriptScore {
  /** As published: "YES" anywhere in the last reply, else "PARTIAL" anywhere in it, else NO. */
  readonly legacy: "YES" | "PARTIAL" | "NO";
  /** From the body of an answer or from the reply to the limit text: the first of the words on its own; MISSING without one. */
  readonly strict: "YES" | "PARTIAL" | "NO" | "MISSING";
  readonly end: TranscriptEnd;
}

function textOf(message: TranscriptMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}

const isLimitText = (message: TranscriptMessage | undefined): boolean =>
  message?.role === "user" && typeof message.content === "string" && message.content.trimStart().startsWith(LIMIT_TEXT);

function endOf(messages: readonly TranscriptMessage[]): TranscriptEnd {
  const last = messages.at(-1);
  if (last === undefined) return "empty";
  if (last.role !== "assistant") return "api_failure";
  if (parseReply(textOf(last)).kind === "answer") return "answered";
  return isLimitText(messages.at(-2)) ? "forced_verdict" : "driver_failure";
}

function ruleLegacy(reply: string): TranscriptScore["legacy"] {
  if (reply.includes("YES")) return "YES";
  return reply.includes("PARTIAL") ? "PARTIAL" : "NO";
}

function firstVerdict(text: string): TranscriptScore["strict"] {
  const [word] = /(?<![\p{L}\p{N}_])(?:YES|PARTIAL|NO)(?![\p{L}\p{N}_])/u.exec(text) ?? [];
  return word === "YES" || word === "PARTIAL" || word === "NO" ? word : "MISSING";
}

/** What a reply decided upon, without its thoughts: all of it when it keeps to no form. */
function decisionOf(reply: string): string {
  const action = parseReply(reply);
  if (action.kind === "answer") return action.text;
  if (!reply.includes("Action:")) return reply;
  return (
    reply
      .split("Action:")
      .at(-1)
      ?.split(/Thought:|Observation:/u)[0] ?? ""
  );
}

/** Scores a transcript of the published protocol from its messages alone. */
export function scoreTranscript(messages: readonly TranscriptMessage[]): TranscriptScore {
  const end = endOf(messages);
  const reply = textOf(messages.findLast(({ role }) => role === "assistant"));
  const isDecided = end === "answered" || end === "forced_verdict";
  return { legacy: ruleLegacy(reply), strict: isDecided ? firstVerdict(decisionOf(reply)) : "MISSING", end };
}
