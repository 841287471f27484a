import { z } from "zod";

// Parquet exports hold nested fields as JSON text; wherever a list or an object is expected, its JSON text means the same.
// Null and a blank text mean that the field is absent: Parquet has no other way to say so.
function orJsonText<T extends z.ZodType>(schema: T) {
  return z.preprocess((value, context) => {
    if (typeof value !== "string") return value ?? undefined;
    if (value.trim() === "") return undefined;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON, but this text is not JSON" });
      return z.NEVER;
    }
  }, schema);
}

function orNull<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => value ?? undefined, schema.optional()).optional();
}

// Free-form fields: JSON text is read when it is JSON, any other text is kept as it is.
const freeForm = z.unknown().transform((value) => {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
});

const RawCheck = z.looseObject({
  task: z.string(),
  expected_result: z.string(),
  task_category: freeForm.optional(),
  kind: orNull(z.string()),
  copied_from_request: orNull(z.int()),
  superseded: orNull(z.boolean()),
});
export type RawCheck = z.infer<typeof RawCheck>;

const checks = orJsonText(z.array(orJsonText(RawCheck)));

const FollowUp = z.looseObject({
  instruction: z.string(),
  archetype: orNull(z.string()),
  ui_instruct: checks,
});

const RawGraph = z.looseObject({
  nodes: orJsonText(
    z.array(orJsonText(z.looseObject({ id: z.string(), label: orNull(z.string()), archetype: orNull(z.string()) }))),
  ),
  edges: orJsonText(z.array(orJsonText(z.looseObject({ from: z.string(), to: z.string(), what: orNull(z.string()) })))),
});
export type RawGraph = z.infer<typeof RawGraph>;

/** A row as data sets write it; fields that are not named here are kept. WebGen-Bench rows have no `follow_ups` and no graph. */
export const RawRow = z.looseObject({
  // The id becomes a file name (oracles/ID.ts), so separators and control characters are refused.
  id: z
    .string()
    .regex(/^[^\p{Cc}/\\]*[^\p{Cc}/\\\s.][^\p{Cc}/\\]*$/u, 'must be a name such as "000001", without slashes'),
  instruction: z.string(),
  ui_instruct: checks,
  follow_ups: orJsonText(z.array(orJsonText(FollowUp)).optional()).optional(),
  dependency_graph: orJsonText(RawGraph.optional()).optional(),
  global_rules: orJsonText(
    z.array(orJsonText(z.looseObject({ rule: z.string(), introduced_in_request: z.int() }))).optional(),
  ).optional(),
  pinned_seed: orJsonText(
    z
      .looseObject({
        entity: z.string(),
        introduced_in_request: z.int(),
        records_gist: z.string(),
        records: freeForm.optional(),
      })
      .optional(),
  ).optional(),
  Category: freeForm.optional(),
});
export type RawRow = z.infer<typeof RawRow>;
