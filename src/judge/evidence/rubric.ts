import { z } from "zod";
import type { Check } from "../../dataset/row.ts";
import { fillPrompt } from "../prompts.ts";
import type { Ask } from "./ask.ts";
import { prompts } from "./load-prompts.ts";
import type { KeyPoint } from "./record.ts";

const MAX_POINTS = 5;

const Rubric = z.object({
  points: z
    .array(
      z.object({
        point: z.string().min(1).max(600),
        tag: z.enum(["static", "interaction", "persistence", "visual"]),
        texts: z.array(z.string()).max(10).default([]),
        unchanged: z.boolean().default(false),
      }),
    )
    .min(1)
    .max(MAX_POINTS),
});

/** Only words of the check itself can be insisted on; a model that makes up others must not decide against an app. */
function ownTexts(texts: readonly string[], { task, expectedResult }: Check): string[] {
  const own = `${task}\n${expectedResult}`.toLowerCase();
  return texts.map((text) => text.trim()).filter((text) => text !== "" && own.includes(text.toLowerCase()));
}

/** Asks for the key points of a check. Rejects with what `ask` rejects with. */
export async function writeRubric(check: Check, ask: Ask): Promise<KeyPoint[]> {
  const question = fillPrompt(prompts.texts["rubric-check"], { task: check.task, expected: check.expectedResult });
  const { points } = await ask({
    role: "rubric",
    name: "rubric",
    schema: Rubric,
    messages: [
      { role: "system", content: prompts.texts.rubric },
      { role: "user", content: question },
    ],
  });
  return points.map((point, index) => ({
    ...point,
    id: `k${index + 1}`,
    texts: ownTexts(point.texts, check),
    unchanged: point.unchanged && point.tag === "interaction",
  }));
}
