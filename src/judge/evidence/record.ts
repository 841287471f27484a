import { z } from "zod";

/** One thing that must be seen for the check to hold, written before the app was seen. */
export const KeyPoint = z.strictObject({
  /** "k1", "k2", ... */
  id: z.string(),
  point: z.string(),
  tag: z.enum(["static", "interaction", "persistence", "visual"]),
  /** Words of the check that must be on the screen when the point is met; may be empty. */
  texts: z.array(z.string()),
  /** True when the expected effect of the interaction is that nothing changes. */
  unchanged: z.boolean(),
});
export type KeyPoint = z.infer<typeof KeyPoint>;

/** What happened during a step, besides what the page shows. */
const StepEvent = z.strictObject({
  kind: z.enum(["dialog", "popup", "download", "console", "network"]),
  text: z.string(),
});
export type StepEvent = z.infer<typeof StepEvent>;

/** One action with the look at the page after it. Step 0 is the first look. */
export const Step = z.strictObject({
  step: z.int().min(0),
  /** Type of the action, such as "click"; null for the first look. */
  action: z.string().nullable(),
  /** What was done, with the element's name; empty for the first look. */
  did: z.string(),
  isOk: z.boolean(),
  /** Why the action failed, or what it gave; empty when there is nothing to say. */
  result: z.string(),
  /** Path of the page in use, relative to the app. */
  path: z.string(),
  title: z.string(),
  /** Lines as a model sees them; what a user cannot see ends in "(not visible)". */
  view: z.array(z.string()),
  /** Tabs, scroll, focus: one line each. */
  state: z.array(z.string()),
  events: z.array(StepEvent),
  /** Computed styles that were asked for, one line an element. */
  styles: z.array(z.string()),
  hasCanvas: z.boolean(),
  /** File of the picture after this step; the same as the step before when nothing changed; null when none could be taken. */
  picture: z.string().nullable(),
  /** SHA-256 (hex) of the picture. */
  pictureHash: z.string().nullable(),
});
export type Step = z.infer<typeof Step>;

/** Colours of the first look, by what has them: "rgb(r, g, b)" with the share or area it takes. */
export const PageColors = z.strictObject({
  /** Colours of the picture by share of its points, largest first. */
  dominant: z.array(z.strictObject({ color: z.string(), share: z.number() })),
  /** Backgrounds of buttons, headers, cards and the like, with their areas in square pixels. */
  parts: z.array(z.strictObject({ part: z.string(), color: z.string(), area: z.number() })),
});
export type PageColors = z.infer<typeof PageColors>;

/** All that ruling needs; `Evidence.record` of this judge. */
export const EvidenceRecord = z.strictObject({
  version: z.literal(1),
  points: z.array(KeyPoint),
  steps: z.array(Step),
  /** Steps that the explorer named per key point: which pictures the judge is shown. */
  claims: z.array(z.strictObject({ id: z.string(), steps: z.array(z.int()) })),
  colors: PageColors.nullable(),
});
export type EvidenceRecord = z.infer<typeof EvidenceRecord>;
