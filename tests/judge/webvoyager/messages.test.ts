import { expect, test } from "vitest";
import { LIMIT_TEXT } from "../../../src/dataset/webvoyager-transcript.ts";
import {
  limitText,
  observationText,
  toChat,
  toPublished,
  trimMessages,
  type WebvoyagerMessage,
} from "../../../src/judge/webvoyager/messages.ts";

const question = { task: "Buy {{milk}}", expectedResult: "Milk\nis bought", url: "http://localhost:1/" };
const picture = new Uint8Array([1, 2, 3]);
const observation = (number: number): WebvoyagerMessage => ({
  role: "user",
  text: observationText(`[0]: "step ${number}";`, { notes: "", question: number === 1 ? question : null }),
  picture,
});
const reply: WebvoyagerMessage = { role: "assistant", text: "Thought: a\nAction: Click [0]" };
const system: WebvoyagerMessage = { role: "system", text: "You are a robot." };

test("the newest three pictures stay with their texts; older observations keep what stands before the word", () => {
  const error: WebvoyagerMessage = { role: "user", text: "Format ERROR: again" };
  const all = [
    system,
    observation(1),
    reply,
    observation(2),
    reply,
    error,
    reply,
    observation(3),
    reply,
    observation(4),
  ];
  const trimmed = trimMessages(all, 3);
  expect(trimmed.slice(2)).toEqual(all.slice(2));
  const first = trimmed[1]?.text ?? "";
  expect(trimmed[1]?.picture).toBeUndefined();
  expect(first).toMatch(/^Now given a task: Task: Buy \{\{milk\}\}\n/);
  expect(first).toMatch(
    / {2}Please interact with http:\/\/localhost:1\/ and get the answer\.Observation: A screenshot/,
  );
  expect(first).not.toContain("step 1");
  // The published readers take the question from between these two.
  expect(/Now given a task:([\s\S]*)Please interact with/u.exec(first)?.[1]).toContain(
    "Expected Result: Milk\nis bought",
  );
  const later = trimMessages([...trimmed, reply, observation(5)], 3);
  expect(later[3]?.text).toBe("Observation: A screenshot and some texts. (Omitted in context.)");
  expect(later.filter((message) => message.picture !== undefined)).toHaveLength(3);
});

test("a model gets the bytes of a picture, the published form a placeholder", () => {
  const messages = [system, observation(2)];
  expect(toChat(messages)[1]?.content).toEqual([
    { type: "text", text: messages[1]?.text },
    { type: "image", mediaType: "image/png", bytes: picture },
  ]);
  expect(toPublished(messages)).toEqual([
    { role: "system", content: "You are a robot." },
    {
      role: "user",
      content: [
        { type: "text", text: messages[1]?.text },
        { type: "image_url", image_url: { url: "data:image/png;base64,{b64_img}" } },
      ],
    },
  ]);
});

test("the last message begins with the limit text and carries the expected result", () => {
  expect(limitText(question).startsWith(LIMIT_TEXT)).toBe(true);
  expect(limitText(question)).toContain("Milk\nis bought");
});
