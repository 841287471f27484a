import { z } from "zod";

/** A value of the wanted shape, or what is wrong with it. */
export type Mended<T> =
  | { readonly isValid: true; readonly value: T }
  | { readonly isValid: false; readonly wrong: string };

const WORDS: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

/**
 * Validates a value, reading over how models write the right thing in the wrong type: "false" or "no" for a boolean, "3" for a
 * number, other case in one of a few words. Nothing is read from truthiness, and an absent field stays absent.
 */
export function mendTypes<T>(schema: z.ZodType<T>, value: unknown): Mended<T> {
  const first = schema.safeParse(value);
  if (first.success) return { isValid: true, value: first.data };
  const copy: unknown = structuredClone(value);
  for (const issue of first.error.issues) mend(copy, issue);
  const second = schema.safeParse(copy);
  if (second.success) return { isValid: true, value: second.data };
  const wrong = first.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "the value"}: ${message}`);
  return { isValid: false, wrong: wrong.join("; ") };
}

function mend(root: unknown, issue: z.core.$ZodIssue): void {
  const parent = issue.path.slice(0, -1).reduce<unknown>((at, key) => (isHolder(at) ? at[key] : undefined), root);
  const key = issue.path.at(-1);
  if (key === undefined || !isHolder(parent)) return;
  const found = parent[key];
  if (typeof found !== "string") return;
  const mended = meant(issue, found.trim());
  if (mended !== undefined) parent[key] = mended;
}

function meant(issue: z.core.$ZodIssue, text: string): unknown {
  if (issue.code === "invalid_type" && issue.expected === "boolean") return WORDS[text.toLowerCase()];
  if (issue.code === "invalid_type" && issue.expected === "number")
    return /^-?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : undefined;
  if (issue.code !== "invalid_value") return undefined;
  const same = issue.values.filter((word) => typeof word === "string" && word.toLowerCase() === text.toLowerCase());
  return same.length === 1 ? same[0] : undefined;
}

function isHolder(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}
