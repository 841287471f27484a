// A static report of one or more runs: pages that open from the disk and from any web server.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EvowebError } from "../errors.ts";
import { tellApp } from "../report/app-story.ts";
import { renderAppPage } from "../report/page/app-page.tsx";
import { renderComparePage, type ComparedRun } from "../report/page/compare-page.tsx";
import { detailScript, writeAssets } from "../report/page/files.ts";
import type { ReportApp, ReportRun } from "../report/page/model.ts";
import { detailName } from "../report/page/request-section.tsx";
import { renderRunPage } from "../report/page/run-page.tsx";
import { scoreRunFolder } from "../report/score-source.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName, readRunFolder, type RunFolder } from "../trace/run-folder.ts";
import { readBlamed } from "./blame/blame-folder.ts";
import { compareRuns } from "./compare.ts";
import { copyImages } from "./report/copy-images.ts";
import { readDetails } from "./report/read-details.ts";

/** What to report on and where. */
export interface ReportRequest {
  /** Run folders; with two or more the first page compares them. */
  readonly runs: readonly string[];
  /** A new or empty folder, or one that holds a report, which is then replaced. */
  readonly out: string;
  /** Given for a run that goes on: pages load again when it changes. */
  readonly version?: string;
}

/** Writes the report; resolves with the path of its first page. Throws `usage` when `out` holds something else, else as reading runs does. */
export async function writeReport({ runs, out, version }: ReportRequest): Promise<string> {
  const [first] = runs;
  if (first === undefined) throw new EvowebError("usage", "name at least one run folder");
  prepareOut(out);
  writeAssets(out);
  if (runs.length === 1) {
    await writeRunPages(readRunFolder(first), { out, comparePage: null, version: version ?? null });
  } else {
    await writeComparison(runs, out);
  }
  return join(out, "index.html");
}

function prepareOut(out: string): void {
  const names = existsSync(out) ? readdirSync(out) : [];
  if (names.length > 0 && !names.includes("report.css")) {
    throw new EvowebError("usage", `${out} is not empty and holds no report. Name a new or empty folder with --out.`);
  }
  // What an earlier report left would be reachable from no page of this one.
  for (const name of ["data", "images"]) rmSync(join(out, name), { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
}

async function writeComparison(runs: readonly string[], out: string): Promise<void> {
  const comparison = await compareRuns(runs, { allowMismatch: true });
  const compared: ComparedRun[] = [];
  for (const [index, dir] of runs.entries()) {
    const folder = `run-${index + 1}`;
    mkdirSync(join(out, folder), { recursive: true });
    const target = { out: join(out, folder), comparePage: "../index.html", version: null };
    const run = await writeRunPages(readRunFolder(dir), target);
    const name = comparison.sides.find(({ paths }) => paths.includes(dir))?.name ?? "";
    compared.push({ name, href: `${folder}/index.html`, run });
  }
  writeFileSync(join(out, "index.html"), renderComparePage(comparison, compared));
}

interface Target {
  readonly out: string;
  readonly comparePage: string | null;
  readonly version: string | null;
}

async function writeRunPages(folder: RunFolder, { out, comparePage, version }: Target): Promise<ReportRun> {
  for (const name of ["data", "images"]) mkdirSync(join(out, name), { recursive: true });
  const source = scoreRunFolder(folder);
  const images = new Map<string, string>();
  const apps: ReportApp[] = [];
  const run: ReportRun = { source, apps, images, version, comparePage };
  for (const [index, sampled] of folder.rows.entries()) {
    const { sampleIndex } = sampled;
    const score = source.score.apps[index];
    if (score === undefined) continue;
    const dir = join(folder.dir, appDirName(sampleIndex));
    const path = join(dir, "trace.jsonl");
    const events = existsSync(path) ? readTrace(path, sampleIndex).events : [];
    const blamed = readBlamed(folder.dir, sampleIndex);
    const story = tellApp(sampled, [...events, ...blamed.events]);
    const app = { sampled, score, effort: folder.apps.get(sampleIndex)?.effort ?? null, story };
    apps.push(app);
    copyImages(story, { dirs: [folder.run.imported?.source ?? dir, blamed.dir], out: join(out, "images") }, images);
    for await (const { request, detail } of readDetails(dir, story)) {
      const name = detailName(sampleIndex, request);
      writeFileSync(join(out, "data", `${name}.js`), detailScript(name, detail));
    }
    writeFileSync(join(out, `${appDirName(sampleIndex)}.html`), renderAppPage(run, app));
  }
  writeFileSync(join(out, "index.html"), renderRunPage(run));
  return run;
}
