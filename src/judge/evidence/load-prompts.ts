import { loadPrompts } from "../prompts.ts";

/** The texts this judge sends, from `prompts/`. */
export const prompts = loadPrompts(new URL("prompts/", import.meta.url), [
  "rubric",
  "rubric-check",
  "explore",
  "explore-step",
  "judge",
  "record",
  "verify",
]);
