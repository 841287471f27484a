import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { EvowebError, messageOf } from "../errors.ts";
import type { Evidence } from "./judge.ts";

/** What was observed, as JSON in a check's folder: enough for the same judge to rule again. */
export const EVIDENCE_FILE = "evidence.json";

const count = z.int().min(0).nullable();
const StoredEvidence = z.object({
  points: z.array(z.object({ point: z.string(), met: z.boolean(), saw: z.string() })),
  files: z.array(z.string()),
  browserMs: z.number().min(0),
  fault: z
    .object({ cause: z.enum(["judge_error", "budget", "infra"]).optional(), class: z.string(), text: z.string() })
    .optional(),
  record: z.record(z.string(), z.unknown()).optional(),
  usage: z
    .object({
      calls: z.int().min(0),
      inputTokens: count,
      outputTokens: count,
      costUsd: z.number().min(0).nullable(),
    })
    .optional(),
  /** False when the browser's state decided (a crashed or hanging page, a limit) and no judge ruled. */
  isRuled: z.boolean(),
});

/**
 * Reads a check's stored evidence; null when there is none or no judge ruled on it.
 *
 * @throws EvowebError `trace` when it is not as evoweb writes it, `io` when it cannot be read.
 */
export function readStoredEvidence(path: string): Evidence | null {
  if (!existsSync(path)) return null;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new EvowebError("io", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  try {
    const { isRuled, ...evidence } = StoredEvidence.parse(JSON.parse(text));
    // Through JSON, what is absent is absent and not undefined.
    return isRuled ? (evidence as Evidence) : null;
  } catch (error) {
    throw new EvowebError("trace", `${path} is not evidence as evoweb writes it: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
