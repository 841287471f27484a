import { expect, test } from "vitest";
import { listElements, type ListedElement } from "../../../src/judge/webvoyager/list-elements.ts";

const element = (tag: string, given: Partial<ListedElement>): ListedElement => ({
  tag,
  type: "",
  text: "",
  ariaLabel: "",
  ...given,
});

test("the list shows tags of inputs and buttons, labels that differ, and no long texts", () => {
  const line = listElements([
    element("button", { type: "submit", text: "Save", ariaLabel: "Save the note" }),
    element("a", { text: "Home", ariaLabel: "Home" }),
    element("input", { type: "text", ariaLabel: "Name" }),
    element("input", { type: "checkbox" }),
    element("textarea", { type: "textarea" }),
    element("select", { type: "select-one", text: "OneTwoThree" }),
    element("li", { text: "x".repeat(200) }),
    element("button", { type: "button" }),
    element("div", { ariaLabel: "only a label" }),
  ]);
  expect(line.split("\t")).toEqual([
    '[0]: <button> "Save", "Save the note";',
    '[1]: "Home";',
    '[2]: <input> "Name";',
    '[4]: <textarea> "";',
    '[5]: "OneTwoThree";',
    '[7]: <button> "";',
  ]);
});
