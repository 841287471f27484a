import type { Ratio } from "../scoring/turns.ts";
import type { RunFolder } from "../trace/run-folder.ts";
import { scoreFolder } from "./run-score.ts";

type Table = readonly (readonly string[])[];

const number = (value: number | null): string => (value === null ? "n/a" : value.toFixed(2));
const ratio = ([top, bottom]: Ratio): string => (bottom === 0 ? "n/a (0/0)" : `${top}/${bottom}`);

/** The run in the first line after the head, then each app. */
function tableOf(folder: RunFolder): Table {
  const { apps, run } = scoreFolder(folder);
  const name = `${folder.run.provenance.agent.name ?? "unknown"}${run.complete ? "" : " (incomplete)"}`;
  return [
    ["App", "Grade", "Survival", "TP", "APR", "BR"],
    [name, number(run.grade), number(run.survival), ratio(run.tp), ratio(run.apr), ratio(run.br)],
    ...apps.map(({ sampleIndex, id, primary }) => {
      const strict = primary.strict.filter((flag) => flag !== null);
      const passed: Ratio = [strict.filter((flag) => flag === 1).length, strict.length];
      const { grade, survival, apr, br } = primary;
      return [`${sampleIndex} ${id}`, number(grade), `${survival}/${primary.N}`, ratio(passed), ratio(apr), ratio(br)];
    }),
  ];
}

/** Plain text on one line, without control characters and halves of characters. */
const oneLine = (text: string): string =>
  Buffer.from(text)
    .toString()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ");

/** Text for a cell of a Markdown table. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_{}[\]|~#!]/gu, String.raw`\$&`);
}

const LATEX: Readonly<Record<string, string>> = {
  "\\": String.raw`\textbackslash{}`,
  "~": String.raw`\textasciitilde{}`,
  "^": String.raw`\textasciicircum{}`,
};

/** Text for a cell of a LaTeX table. */
export function escapeLatex(text: string): string {
  return oneLine(text).replaceAll(/[\\~^&%$#_{}]/gu, (sign) => LATEX[sign] ?? `\\${sign}`);
}

/** Lines of a Markdown table; the head is ours and stays as it is. */
export function* markdownTable([head = [], ...body]: Table): Generator<string> {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  yield line(head);
  yield `|${head.map(() => " --- |").join("")}\n`;
  for (const cells of body) yield line(cells.map(escapeMarkdown));
}

/** The scores of a run as a Markdown table. */
export function markdownScores(folder: RunFolder): Iterable<string> {
  return markdownTable(tableOf(folder));
}

/** The scores of a run as a LaTeX table. */
export function* latexScores(folder: RunFolder): Generator<string> {
  const [head = [], run = [], ...apps] = tableOf(folder);
  const line = (cells: readonly string[]): string => `${cells.map(escapeLatex).join(" & ")} \\\\\n`;
  yield `\\begin{tabular}{l${"r".repeat(head.length - 1)}}\n\\hline\n${line(head)}\\hline\n${line(run)}\\hline\n`;
  for (const cells of apps) yield line(cells);
  yield "\\hline\n\\end{tabular}\n";
}
