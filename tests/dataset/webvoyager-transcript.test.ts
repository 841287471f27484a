import { describe, expect, test } from "vitest";
import { LIMIT_TEXT, parseReply, scoreTranscript } from "../../src/dataset/webvoyager-transcript.ts";

const act = (action: string): ReturnType<typeof parseReply> => parseReply(`Thought: so\nAction: ${action}`);

describe("the published grammar", () => {
  test("reads each action with and without brackets", () => {
    expect(act("Click [3]")).toEqual({ kind: "click", label: 3 });
    expect(act("Click 3")).toEqual({ kind: "click", label: 3 });
    expect(act("Type [2]; [milk and bread]")).toEqual({ kind: "type", label: 2, text: "milk and bread" });
    expect(act("Type 2; milk")).toEqual({ kind: "type", label: 2, text: "milk" });
    expect(act(`Type [2]; ["milk"]`)).toEqual({ kind: "type", label: 2, text: "milk" });
    expect(act("Scroll [WINDOW]; [down]")).toEqual({ kind: "scroll", label: "WINDOW", direction: "down" });
    expect(act("Scroll 4; up")).toEqual({ kind: "scroll", label: 4, direction: "up" });
    expect(act("Wait")).toEqual({ kind: "wait" });
    expect(act("GoBack")).toEqual({ kind: "goback" });
    expect(act("Google")).toEqual({ kind: "google" });
    expect(act("ANSWER; [YES, it\nworks] and more")).toEqual({ kind: "answer", text: "YES, it\nworks" });
  });

  test.each(["click [3]", "Go Back", "Scroll down", "ANSWER: YES", "Answer; YES"])(
    "finds no action in %s",
    (action) => {
      expect(act(action)).toEqual({ kind: "none" });
    },
  );

  test("the first pattern of the published order wins, wherever it stands", () => {
    expect(act("ANSWER; after Click [5] it says YES")).toEqual({ kind: "click", label: 5 });
    expect(act("Type [2]; Click [9]")).toEqual({ kind: "click", label: 9 });
  });

  test("a field cannot be cleared, and a text ends at a bracket", () => {
    expect(act("Type [3]; []")).toEqual({ kind: "type", label: 3, text: "]" });
    expect(act("Type [3]; a]b")).toEqual({ kind: "type", label: 3, text: "a" });
  });

  test("what follows the second marker is read, whichever it is", () => {
    expect(parseReply("Action: Click [1]\nThought: Wait, Click [2]")).toEqual({ kind: "click", label: 2 });
    expect(parseReply("Thought: my Action: is to GoBack\nAction: Click [7]")).toEqual({ kind: "none" });
    expect(parseReply("Thought: a\nObservation: Click [4]\nAction: Click [7]")).toEqual({ kind: "click", label: 4 });
  });

  test.each(["YES", "", "Thought: YES", "Action: Click [1]"])("without both markers %j is malformed", (reply) => {
    expect(parseReply(reply)).toEqual({ kind: "malformed" });
  });
});

const start = [
  { role: "system", content: "You are a robot." },
  { role: "user", content: [{ type: "text", text: "Now given a task: buy" }, { type: "image_url" }] },
];
const said = (content: string | null): ReturnType<typeof scoreTranscript> =>
  scoreTranscript([...start, { role: "assistant", content }]);
const forced = (content: string): ReturnType<typeof scoreTranscript> =>
  scoreTranscript([...start, { role: "user", content: `${LIMIT_TEXT}\nDecide.` }, { role: "assistant", content }]);

describe("the verdict rules", () => {
  test.each([
    ["Thought: done\nAction: ANSWER; [YES]", "YES", "YES"],
    ["Thought: done\nAction: ANSWER; [PARTIAL, no total]", "PARTIAL", "PARTIAL"],
    ["Thought: done\nAction: ANSWER; [NO]", "NO", "NO"],
    // What the published rule makes of these is wrong; it is what was published.
    ["Thought: done\nAction: ANSWER; NO, so I can't answer YES", "YES", "NO"],
    ["Thought: done\nAction: ANSWER; PARTIAL: I would not say YES", "YES", "PARTIAL"],
    ["Thought: the page says EYES\nAction: ANSWER; NO", "YES", "NO"],
    ["Thought: done\nAction: ANSWER; Yes, it works", "NO", "MISSING"],
  ])("%j is %s by the published rule and %s by the strict one", (reply, legacy, strict) => {
    expect(said(reply)).toEqual({ legacy, strict, end: "answered" });
  });

  test("a run that broke off after an action is NO by the published rule and undecided by the strict one", () => {
    expect(said("Thought: Not YES yet\nAction: Click [3]")).toEqual({
      legacy: "YES",
      strict: "MISSING",
      end: "driver_failure",
    });
    expect(said("Thought: so\nAction: Click [3]")).toEqual({ legacy: "NO", strict: "MISSING", end: "driver_failure" });
    expect(said(null)).toEqual({ legacy: "NO", strict: "MISSING", end: "driver_failure" });
  });

  test("a call without a reply leaves the reply before it to the published rule", () => {
    expect(scoreTranscript(start)).toEqual({ legacy: "NO", strict: "MISSING", end: "api_failure" });
    const messages = [
      ...start,
      { role: "assistant", content: "Thought: YES" },
      { role: "user", content: "Format ERROR" },
    ];
    expect(scoreTranscript(messages)).toEqual({ legacy: "YES", strict: "MISSING", end: "api_failure" });
    expect(scoreTranscript([])).toEqual({ legacy: "NO", strict: "MISSING", end: "empty" });
  });

  test("the reply to the limit text counts in any form, without its thoughts", () => {
    expect(forced("YES")).toEqual({ legacy: "YES", strict: "YES", end: "forced_verdict" });
    expect(forced("Thought: not YES\nAction: ANSWER: NO").strict).toBe("NO");
    expect(forced("Thought: I would say YES\nAction: Click [3]")).toMatchObject({ legacy: "YES", strict: "MISSING" });
    expect(forced("Thought: so\nAction: ANSWER; [PARTIAL]")).toMatchObject({ strict: "PARTIAL", end: "answered" });
    expect(forced("EYES on NOTES, then YES_NO").strict).toBe("MISSING");
  });

  test("an observation that quotes the limit text forces nothing", () => {
    const messages = [
      ...start,
      { role: "user", content: [{ type: "text", text: LIMIT_TEXT }] },
      { role: "assistant", content: "YES" },
    ];
    expect(scoreTranscript(messages)).toMatchObject({ strict: "MISSING", end: "driver_failure" });
  });
});
