import { z } from "zod";

/** The JSON Schema that is shown to a model, and whether an endpoint's strict mode takes it. */
export interface ReplySchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Strict mode wants an object at the root, every property required, and no other properties. */
  readonly isStrict: boolean;
}

// Strict modes refuse these or know no rule for them; zod checks them afterwards all the same.
const DROPPED: ReadonlySet<string> = new Set([
  "$schema",
  "default",
  "minLength",
  "maxLength",
  "propertyNames",
  "uniqueItems",
  "contentEncoding",
]);
const known = new WeakMap<z.ZodType, ReplySchema>();

/** The JSON Schema of what a model has to write to satisfy a zod schema. */
export function replySchema(type: z.ZodType): ReplySchema {
  const made = known.get(type) ?? convert(type);
  known.set(type, made);
  return made;
}

function convert(type: z.ZodType): ReplySchema {
  const state = { isStrict: true };
  const schema = clean(z.toJSONSchema(type, { io: "input", unrepresentable: "any" }), state) as Record<string, unknown>;
  return { schema, isStrict: state.isStrict && schema["type"] === "object" };
}

function clean(value: unknown, state: { isStrict: boolean }): unknown {
  if (Array.isArray(value)) return value.map((item) => clean(item, state));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => !DROPPED.has(key) && !isSafeIntegerBound(key, entry))
    .map(([key, entry]) => [key, key === "properties" ? cleanEach(entry, state) : clean(entry, state)] as const);
  const cleaned: Record<string, unknown> = Object.fromEntries(entries);
  if (cleaned["type"] !== "object") return cleaned;
  const properties = isRecord(cleaned["properties"]) ? Object.keys(cleaned["properties"]) : null;
  const required = Array.isArray(cleaned["required"]) ? cleaned["required"] : [];
  // A record has no properties of its own, and a property that may be absent is not required: strict mode has neither.
  if (properties === null || properties.length !== required.length) state.isStrict = false;
  return properties === null ? cleaned : { ...cleaned, additionalProperties: cleaned["additionalProperties"] ?? false };
}

// The names of properties are no keywords: a property may be called "default".
function cleanEach(value: unknown, state: { isStrict: boolean }): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, clean(entry, state)]));
}

// zod writes the bounds of safe integers for every whole number; they say nothing to a model.
function isSafeIntegerBound(key: string, value: unknown): boolean {
  return (
    (key === "minimum" || key === "maximum") && typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
