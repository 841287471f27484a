import { z } from "zod";

// Parquet exports hold nested fields as JSON text; wherever a list or an object is expected, its JSON text means the same.
// A blank text means that the field is absent.
function orJsonText<T extends z.ZodType>(schema: T) {
  return z.preprocess((value, context) => {
    if (typeof value !== "string") return value;
    if (value.trim() === "") return undefined;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON, but this text is not JSON" });
      return z.NEVER;
    }
  }, schema);
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
  kind: z.string().nullish(),
  copied_from_request: z.int().nullish(),
  superseded: z.boolean().nullish(),
});
export type RawCheck = z.infer<typeof RawCheck>;

const checks = orJsonText(z.array(orJsonText(RawCheck)));

const FollowUp = z.looseObject({
  instruction: z.string(),
  archetype: z.string().nullish(),
  ui_instruct: checks,
});

const RawGraph = z.looseObject({
  nodes: orJsonText(
    z.array(
      orJsonText(z.looseObject({ id: z.string(), label: z.string().nullish(), archetype: z.string().nullish() })),
    ),
  ),
  edges: orJsonText(
    z.array(orJsonText(z.looseObject({ from: z.string(), to: z.string(), what: z.string().nullish() }))),
  ),
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
  follow_ups: orJsonText(z.array(orJsonText(FollowUp)).nullish()).optional(),
  dependency_graph: orJsonText(RawGraph.nullish()).optional(),
  global_rules: orJsonText(
    z.array(orJsonText(z.looseObject({ rule: z.string(), introduced_in_request: z.int() }))).nullish(),
  ).optional(),
  pinned_seed: orJsonText(
    z
      .looseObject({
        entity: z.string(),
        introduced_in_request: z.int(),
        records_gist: z.string(),
        records: freeForm.optional(),
      })
      .nullish(),
  ).optional(),
  Category: freeForm.optional(),
});
export type RawRow = z.infer<typeof RawRow>;
