import { z } from "zod";

const ref = z
  .string()
  .regex(/^(?:f\d+)*[ecx]\d+$/u, "a ref is the name in square brackets before an element, such as e5");
/** How to answer a dialog that an action opens. */
export const DialogAnswer = z.strictObject({ accept: z.boolean(), text: z.string().max(1000).optional() });
const dialog = DialogAnswer.optional();
const text = z.string().max(5000);

/** The window's sizes that `resize` knows, in CSS pixels. */
export const PRESETS = {
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desktop: { width: 1280, height: 720 },
} as const;

/** What the explorer can do: what a person can do with a browser, and look. */
export const Action = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("click"), ref, dialog }),
  z.strictObject({ type: z.literal("double_click"), ref, dialog }),
  z.strictObject({ type: z.literal("hover"), ref }),
  z.strictObject({ type: z.literal("check"), ref, checked: z.boolean().default(true), dialog }),
  z.strictObject({
    type: z.literal("type"),
    ref,
    text,
    clear: z.boolean().default(true),
    submit: z.boolean().default(false),
    dialog,
  }),
  z.strictObject({ type: z.literal("press"), key: z.string().min(1).max(40), ref: ref.optional(), dialog }),
  z.strictObject({ type: z.literal("select"), ref, option: text, dialog }),
  z.strictObject({ type: z.literal("set_value"), ref, value: text, dialog }),
  z.strictObject({ type: z.literal("drag"), from: ref, to: ref }),
  z.strictObject({
    type: z.literal("scroll"),
    dy: z.number().optional(),
    dx: z.number().optional(),
    ref: ref.optional(),
    text: text.optional(),
  }),
  z.strictObject({ type: z.literal("upload"), ref, file: z.enum(["text", "csv", "json", "image"]), dialog }),
  z.strictObject({ type: z.literal("back"), dialog }),
  z.strictObject({ type: z.literal("reload"), dialog }),
  z.strictObject({ type: z.literal("restart") }),
  z.strictObject({ type: z.literal("goto"), path: z.string().max(500) }),
  z.strictObject({ type: z.literal("switch_tab"), tab: z.int().min(1) }),
  z.strictObject({ type: z.literal("close_tab") }),
  z.strictObject({ type: z.literal("wait_for"), text: text.optional(), ms: z.int().min(1).max(5000).optional() }),
  z.strictObject({ type: z.literal("resize"), preset: z.enum(["phone", "tablet", "desktop"]) }),
  z.strictObject({ type: z.literal("click_at"), x: z.number(), y: z.number(), ref: ref.optional(), dialog }),
  z.strictObject({
    type: z.literal("probe_style"),
    ref,
    properties: z
      .array(z.string().regex(/^[a-z-]{1,40}$/u))
      .min(1)
      .max(10),
  }),
  z.strictObject({ type: z.literal("look") }),
  z.strictObject({
    type: z.literal("finish"),
    claims: z
      .array(z.strictObject({ id: z.string(), steps: z.array(z.int().min(0)).max(10) }))
      .max(10)
      .default([]),
  }),
]);
export type Action = z.infer<typeof Action>;

/** What the explorer replies. */
export const ExplorerReply = z.object({ note: z.string().default(""), actions: z.array(Action).min(1).max(4) });

/** Actions that a user takes in order to have an effect; what is seen after one of them may be its effect. */
const ACTING: ReadonlySet<string> = new Set([
  "click",
  "double_click",
  "hover",
  "check",
  "type",
  "press",
  "select",
  "set_value",
  "drag",
  "scroll",
  "upload",
  "back",
  "reload",
  "close_tab",
  "resize",
  "click_at",
  "restart",
]);
/** Actions after which only what was stored is still there. */
const RENEWING: ReadonlySet<string> = new Set(["reload", "restart", "goto"]);

export const isActing = (action: string | null): boolean => action !== null && ACTING.has(action);
export const isRenewing = (action: string | null): boolean => action !== null && RENEWING.has(action);
