import { z } from "zod";

const Box = z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() });
/** A rectangle in CSS pixels of the window. */
export type Box = z.infer<typeof Box>;

const Message = z.object({
  role: z.string(),
  content: z.union([
    z.string(),
    z.array(
      z.union([
        z.object({ type: z.literal("text"), text: z.string() }),
        z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
      ]),
    ),
  ]),
});

/** What this judge keeps of an observation: enough to rule again and to write the published files. */
export const WebvoyagerRecord = z.object({
  /** As in `interact_messages.json`: older observations are trimmed, pictures are placeholders. */
  messages: z.array(Message),
  /** The calls that were answered, in order; tokens are null where the endpoint did not count them. */
  calls: z.array(
    z.object({
      /** Milliseconds since 1970. */
      atMs: z.number(),
      inputTokens: z.number().nullable(),
      outputTokens: z.number().nullable(),
    }),
  ),
  /** The pictures: `call` is the 1-based call that saw it, `file` the clean picture, `boxes` what is marked under each label. */
  screens: z.array(z.object({ call: z.int(), file: z.string(), boxes: z.array(z.array(Box)) })),
});
export type WebvoyagerRecord = z.infer<typeof WebvoyagerRecord>;
