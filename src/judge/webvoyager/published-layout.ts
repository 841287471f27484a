import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawMarks } from "./draw-marks.ts";
import type { WebvoyagerRecord } from "./record.ts";

/** Python's logging format: local time is UTC here, with a comma before the milliseconds. */
const stamp = (atMs: number): string =>
  new Date(atMs).toISOString().replace("T", " ").replace(".", ",").replace("Z", "");

function agentLog({ calls, messages }: WebvoyagerRecord): string {
  const lines = calls.flatMap(({ atMs, inputTokens, outputTokens }, index) => [
    `${stamp(atMs)} - INFO - Iter: ${index}`,
    // Summing readers take these lines for counts; without a count there is no line.
    ...(inputTokens === null || outputTokens === null
      ? []
      : [`${stamp(atMs)} - INFO - Prompt Tokens: ${inputTokens}; Completion Tokens: ${outputTokens}`]),
  ]);
  const endMs = calls.at(-1)?.atMs ?? 0;
  return [...lines, ...messages.map((message) => `${stamp(endMs)} - INFO - ${JSON.stringify(message)}`), ""].join("\n");
}

/**
 * Writes one check as the published program does: `interact_messages.json`, `agent.log`, and `screenshotN.png` with its marks
 * for each call N that saw one. `evidenceDir` holds the clean pictures; `folder` is made, such as `results/task000001_0`.
 */
export async function writePublishedLayout(
  folder: string,
  { record, evidenceDir }: { readonly record: WebvoyagerRecord; readonly evidenceDir: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "interact_messages.json"), JSON.stringify(record.messages));
  await writeFile(join(folder, "agent.log"), agentLog(record));
  for (const { call, file, boxes } of record.screens) {
    await writeFile(join(folder, `screenshot${call}.png`), await drawMarks(join(evidenceDir, file), boxes));
  }
}
