import { Command } from "@commander-js/extra-typings";
import {
  buildRequestGraph,
  findingText,
  openDataset,
  pullDataset,
  toMermaid,
  validateDataset,
  type DatasetReport,
  type LocatedFinding,
  type OpenOptions,
  type PulledDataset,
  type SampledRow,
} from "../index.ts";
import { rowText } from "./row-text.ts";
import { readHubAccess } from "./read-environment.ts";
import { printable } from "./printable.ts";

const NAME = [
  "<name-or-path>",
  "built-in dataset, folder with rows.jsonl, JSON, JSONL or Parquet file of rows, or owner/name on the Hugging Face Hub",
] as const;
const CONFIG = ["--config <name>", "configuration (default: the default one, or the one with the split)"] as const;
const SPLIT = ["--split <name>", "split, such as test or fr (default: the only one, or test)"] as const;
const REVISION = ["--revision <commit|branch|tag>", "revision on the Hub (default: main)"] as const;
const APPS = ["--apps <list>", "only these apps, by their position in the file, such as 1,3-5"] as const;
const JSON_FLAG = ["--json", "print one JSON document instead of text"] as const;
const PULL_HELP = `
Without --config and --split everything that the dataset lists is pulled. Files are verified against the sizes and hashes
that the Hub lists, and kept in the cache of Python's huggingface_hub. Obeyed: HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE,
HF_HUB_OFFLINE.

Examples:
  evoweb dataset pull TD-Labs/EvoWeb
  evoweb dataset pull TD-Labs/EvoWeb --config multilingual --split fr`;

// Commands made by .command() take over the exit override, those added later would not.
export const datasetCommand = new Command("dataset").description("check and look at a dataset").exitOverride();

datasetCommand
  .command("validate")
  .description("list every fault of a dataset and of its ground truth at once; exit code 1 when there is one")
  .argument(...NAME)
  .option(...CONFIG)
  .option(...SPLIT)
  .option(...REVISION)
  .option("--against <name-or-path>", "the original of a translation: only the users' requests may differ")
  .option(...JSON_FLAG)
  .addHelpText(
    "after",
    `
A refused row stops a run from starting: it is not readable, has no usable id, an empty request, a dependency graph
that does not fit, or a follow-up with neither none nor five checks. Other faults fail this command only.

Examples:
  evoweb dataset validate evoweb-mini
  evoweb dataset validate rows-fr.jsonl --against rows.jsonl
  evoweb dataset validate evoweb-mini --split fr --against evoweb-mini`,
  )
  .action(async (nameOrPath, options) => {
    const against = options.against === undefined ? {} : { against: options.against };
    const report = await validateDataset(nameOrPath, { ...sourceOf(options), ...against });
    console.log(
      options.json === true ? JSON.stringify({ ok: report.faults.length === 0, ...report }) : reportText(report),
    );
    if (report.faults.length > 0) process.exitCode = 1;
  });

datasetCommand
  .command("show")
  .description("print rows for a person: requests, checks with their roles, dependencies, rules, seed")
  .argument(...NAME)
  .option(...CONFIG)
  .option(...SPLIT)
  .option(...REVISION)
  .option(...APPS)
  .option(...JSON_FLAG)
  .addHelpText("after", "\nExample:\n  evoweb dataset show evoweb-mini --apps 1")
  .action(async (nameOrPath, options) => {
    const { name, config, split, revision, contentHash, apps } = await openDataset(nameOrPath, chosen(options));
    const plain = apps.map(({ sampleIndex, row }) => ({ sampleIndex, row: { ...row, raw: undefined } }));
    console.log(
      options.json === true
        ? JSON.stringify({ name, config, split, revision, contentHash, apps: plain })
        : printable(apps.map(rowText).join("\n\n")),
    );
  });

datasetCommand
  .command("graph")
  .description("print the topological levels and a Mermaid chart of each app's requests")
  .argument(...NAME)
  .option(...CONFIG)
  .option(...SPLIT)
  .option(...REVISION)
  .option(...APPS)
  .option(...JSON_FLAG)
  .addHelpText("after", "\nExample:\n  evoweb dataset graph evoweb-mini --apps 1")
  .action(async (nameOrPath, options) => {
    const dataset = await openDataset(nameOrPath, chosen(options));
    const apps = dataset.apps.map(describeGraph);
    console.log(options.json === true ? JSON.stringify({ apps }) : printable(apps.map(graphText).join("\n")));
  });

datasetCommand
  .command("pull")
  .description("bring a dataset of the Hugging Face Hub to this machine and print where it is and which commit")
  .argument("<owner/name>", "dataset on the Hub")
  .option(...CONFIG)
  .option(...SPLIT)
  .option(...REVISION)
  .option(...JSON_FLAG)
  .addHelpText("after", PULL_HELP)
  .action(async (name, options) => {
    const pulled = await pullDataset(name, sourceOf(options));
    console.log(options.json === true ? JSON.stringify(pulled) : printable(pulledText(pulled)));
  });

interface SourceFlags {
  readonly config?: string | undefined;
  readonly split?: string | undefined;
  readonly revision?: string | undefined;
}

function sourceOf({ config, split, revision }: SourceFlags): OpenOptions {
  return {
    hub: readHubAccess(),
    ...(config === undefined ? {} : { config }),
    ...(split === undefined ? {} : { split }),
    ...(revision === undefined ? {} : { revision }),
  };
}

function chosen(flags: SourceFlags & { readonly apps?: string | undefined }): OpenOptions {
  return { ...sourceOf(flags), ...(flags.apps === undefined ? {} : { apps: flags.apps }) };
}

function pulledText({ repo, commit, dir, splits, sizeBytes }: PulledDataset): string {
  const lines = splits.map(({ config, split, files }) => `  ${config} ${split}: ${countText(files.length, "file")}`);
  return [
    `${repo} at commit ${commit}`,
    `  in ${dir} (${(sizeBytes / 1e6).toFixed(2)} MB)`,
    ...lines,
    `Without any request from now on: --dataset ${repo} --revision ${commit}`,
  ].join("\n");
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
