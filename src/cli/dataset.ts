import { Command } from "@commander-js/extra-typings";
import {
  buildRequestGraph,
  findingText,
  openDataset,
  toMermaid,
  validateDataset,
  type DatasetReport,
  type LocatedFinding,
  type SampledRow,
} from "../index.ts";
import { rowText } from "./row-text.ts";
import { printable } from "./printable.ts";

const NAME = ["<name-or-path>", "built-in dataset, folder with rows.jsonl, or a JSON or JSONL file of rows"] as const;
const APPS = ["--apps <list>", "only these apps, by their position in the file, such as 1,3-5"] as const;
const JSON_FLAG = ["--json", "print one JSON document instead of text"] as const;

// Commands made by .command() take over the exit override, those added later would not.
export const datasetCommand = new Command("dataset").description("check and look at a dataset").exitOverride();

datasetCommand
  .command("validate")
  .description("list every fault of a dataset and of its ground truth at once; exit code 1 when there is one")
  .argument(...NAME)
  .option("--against <name-or-path>", "the original of a translation: only the users' requests may differ")
  .option(...JSON_FLAG)
  .addHelpText(
    "after",
    `
A refused row stops a run from starting: it is not readable, has no usable id, an empty request, a dependency graph
that does not fit, or a follow-up with neither none nor five checks. Other faults fail this command only.

Examples:
  evoweb dataset validate evoweb-mini
  evoweb dataset validate rows-fr.jsonl --against rows.jsonl`,
  )
  .action(async (nameOrPath, options) => {
    const report = await validateDataset(nameOrPath, options.against === undefined ? {} : { against: options.against });
    console.log(
      options.json === true ? JSON.stringify({ ok: report.faults.length === 0, ...report }) : reportText(report),
    );
    if (report.faults.length > 0) process.exitCode = 1;
  });

datasetCommand
  .command("show")
  .description("print rows for a person: requests, checks with their roles, dependencies, rules, seed")
  .argument(...NAME)
  .option(...APPS)
  .option(...JSON_FLAG)
  .addHelpText("after", "\nExample:\n  evoweb dataset show evoweb-mini --apps 1")
  .action(async (nameOrPath, options) => {
    const { name, contentHash, apps } = await openDataset(nameOrPath, chosen(options.apps));
    const plain = apps.map(({ sampleIndex, row }) => ({ sampleIndex, row: { ...row, raw: undefined } }));
    console.log(
      options.json === true
        ? JSON.stringify({ name, contentHash, apps: plain })
        : printable(apps.map(rowText).join("\n\n")),
    );
  });

datasetCommand
  .command("graph")
  .description("print the topological levels and a Mermaid chart of each app's requests")
  .argument(...NAME)
  .option(...APPS)
  .option(...JSON_FLAG)
  .addHelpText("after", "\nExample:\n  evoweb dataset graph evoweb-mini --apps 1")
  .action(async (nameOrPath, options) => {
    const dataset = await openDataset(nameOrPath, chosen(options.apps));
    const apps = dataset.apps.map(describeGraph);
    console.log(options.json === true ? JSON.stringify({ apps }) : printable(apps.map(graphText).join("\n")));
  });

function chosen(apps: string | undefined): { readonly apps?: string } {
  return apps === undefined ? {} : { apps };
}

function describeGraph({ sampleIndex, row }: SampledRow) {
  const graph = buildRequestGraph(row.requests.length, row.dependencies);
  const label = (request: number) => `R${request}: ${row.requests[request - 1]?.label ?? ""}`.replace(/: $/, "");
  return { sampleIndex, id: row.id, levels: graph.levels(), edges: row.dependencies, mermaid: toMermaid(graph, label) };
}

function graphText({ sampleIndex, id, levels, mermaid }: ReturnType<typeof describeGraph>): string {
  const lines = levels.map(
    (level, index) => `  level ${index + 1}: ${level.map((request) => `R${request}`).join(" ")}`,
  );
  return [`App ${sampleIndex}, row ${id}`, ...lines, "", mermaid].join("\n");
}

function reportText({ name, file, faults, warnings, ...counts }: DatasetReport): string {
  const refused = faults.filter((finding) => finding.severity === "refused");
  const others = faults.filter((finding) => finding.severity === "fault");
  const total = [
    `${countText(counts.rowCount, "row")}${refused.length === 0 ? "" : " that can be loaded"}`,
    countText(counts.requestCount, "request"),
    countText(counts.checkCount, "check"),
  ];
  return [
    `${name}: ${total.join(", ")} (${file})`,
    ...section(`Stops the dataset from loading (${countText(refused.length, "fault")})`, refused),
    ...section(`Wrong, though the dataset loads (${countText(others.length, "fault")})`, others),
    ...section(`Odd, but allowed (${countText(warnings.length, "warning")})`, warnings),
    ...(faults.length === 0 ? ["No faults."] : []),
  ].join("\n");
}

function section(title: string, findings: readonly LocatedFinding[]): readonly string[] {
  if (findings.length === 0) return [];
  return ["", `${title}:`, ...findings.map((finding) => printable(`  ${findingText(finding)}`)), ""];
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
