import { readFile } from "node:fs/promises";
import type { Download } from "playwright";
import type { Visit } from "./visit.ts";

/** Presses Export CSV and reads the file; no name and no lines when nothing is downloaded. */
export async function exportCsv(visit: Visit): Promise<{ name: string; lines: string[] }> {
  const arriving = visit.page.waitForEvent("download", { timeout: visit.patienceMs }).catch(() => undefined);
  await visit.press("Export CSV");
  const download = await arriving;
  if (download === undefined) return { name: "", lines: [] };
  const text = (await readDownload(download)).replace(/^\uFEFF/, "");
  return { name: download.suggestedFilename(), lines: text.split(/\r?\n/).filter((one) => one !== "") };
}

async function readDownload(download: Download): Promise<string> {
  try {
    return await readFile(await download.path(), "utf8");
  } catch {
    // A browser under another user may keep the file where it cannot be read; its address still can.
    return download.page().evaluate(async (address) => (await fetch(address)).text(), download.url());
  }
}

/** Chooses a CSV file on the Items page and presses Preview. */
export async function uploadCsv(visit: Visit, lines: readonly string[]): Promise<void> {
  await visit.open("Items");
  const file = { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(`${lines.join("\n")}\n`) };
  await visit.attach("CSV file", file);
  await visit.press("Preview");
}
