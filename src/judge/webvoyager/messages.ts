import { LIMIT_TEXT } from "../../dataset/webvoyager-transcript.ts";
import type { ChatMessage } from "../../model/chat.ts";
import { fillPrompt, loadPrompts } from "../prompts.ts";

/** The prompts of this judge. */
export const PROMPTS = loadPrompts(new URL("prompts/", import.meta.url), [
  "system",
  "question",
  "observation",
  "limit",
  "format-error",
  "action-error",
  "not-a-text-box",
]);

/** One message of the conversation; a picture makes it an observation. */
export interface WebvoyagerMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  /** PNG with the marks drawn in. */
  readonly picture?: Uint8Array;
}

/** A message as `interact_messages.json` holds it, with a placeholder for the bytes of a picture. */
export interface PublishedMessage {
  readonly role: string;
  readonly content: string | readonly PublishedPart[];
}
type PublishedPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

const PLACEHOLDER = "data:image/png;base64,{b64_img}";
const OMITTED = "Observation: A screenshot and some texts. (Omitted in context.)";

/** What is asked of the model, as the messages of the protocol carry it. */
export interface Question {
  readonly task: string;
  readonly expectedResult: string;
  readonly url: string;
}

const questionText = ({ task, expectedResult, url }: Question): string =>
  `Now given a task: ${fillPrompt(PROMPTS.texts.question, { task, expectedResult })}  Please interact with ${url} and get the answer. \n`;

/** The observation of a step; the first one carries the task. `notes` says what else happened, each with a blank before it. */
export function observationText(
  elements: string,
  { notes, question }: { readonly notes: string; readonly question: Question | null },
): string {
  const text = fillPrompt(PROMPTS.texts.observation, { notes, elements });
  return question === null ? text : `${questionText(question)}${text}`;
}

/** The last message: asks for the verdict without an observation. */
export const limitText = ({ expectedResult }: Question): string =>
  fillPrompt(PROMPTS.texts.limit, { limitText: LIMIT_TEXT, expectedResult });

/** Keeps the newest pictures with their texts; of older observations only what stands before "Observation:" stays. */
export function trimMessages(messages: readonly WebvoyagerMessage[], maxPictures: number): WebvoyagerMessage[] {
  let pictures = 0;
  return messages
    .toReversed()
    .map((message) => {
      if (message.picture === undefined) return message;
      pictures += 1;
      if (pictures <= maxPictures) return message;
      return { role: message.role, text: `${message.text.split("Observation:")[0]?.trim() ?? ""}${OMITTED}` };
    })
    .toReversed();
}

/** The messages as the model gets them. */
export const toChat = (messages: readonly WebvoyagerMessage[]): ChatMessage[] =>
  messages.map(({ role, text, picture }) => ({
    role,
    content:
      picture === undefined
        ? text
        : [
            { type: "text", text },
            { type: "image", mediaType: "image/png", bytes: picture },
          ],
  }));

/** The messages in the published form. */
export const toPublished = (messages: readonly WebvoyagerMessage[]): PublishedMessage[] =>
  messages.map(({ role, text, picture }) => ({
    role,
    content:
      picture === undefined
        ? text
        : [
            { type: "text", text },
            { type: "image_url", image_url: { url: PLACEHOLDER } },
          ],
  }));
