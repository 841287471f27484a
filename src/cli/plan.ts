import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { planComparison, PLANNED_METRICS, type ComparisonPlan } from "../index.ts";
import { oneOf, positiveNumber } from "./flags.ts";

function shareBelowOne(value: string): number {
  const share = positiveNumber(value);
  if (share >= 1) throw new InvalidArgumentError('Give a number between 0 and 1, such as "0.8".');
  return share;
}

/** `evoweb plan`: how large an experiment has to be. */
export const planCommand = new Command("plan")
  .description(
    "Say how many apps and repeats it takes to see a difference between two agents, from the noise in a run.",
  )
  .argument("<run...>", "a run folder, or the repeats of one run (a folder of runs is taken for the runs in it)")
  .requiredOption("--difference <d>", "difference to see, in the metric's own unit", positiveNumber)
  .option("--metric <name>", `one of ${PLANNED_METRICS.join(", ")}`, oneOf(...PLANNED_METRICS), "grade")
  .option("--power <share>", "wanted chance to see it", shareBelowOne, 0.8)
  .option("--rows <file>", "rows of the data set, for files that have none beside them")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb plan runs/a --difference 5
  $ evoweb plan runs/three-repeats --difference 0.5 --metric survival --power 0.9`,
  )
  .action(async (paths, { difference, metric, power, rows, json }) => {
    const plan = await planComparison(paths, { difference, metric, power, rowsPath: rows });
    process.stdout.write(json === true ? `${JSON.stringify(plan)}\n` : planText(plan));
  });

function planText({ metric, difference, power, basis, noiseDeviation, assumptions, designs }: ComparisonPlan): string {
  const percent = (share: number): string => `${(100 * share).toFixed(0)}%`;
  const rows = designs.map(({ repeats, apps, powerOfBasis }) => {
    const needed = apps === null ? ">1000" : String(apps);
    return `${String(repeats).padStart(9)}${needed.padStart(7)}${percent(powerOfBasis).padStart(14)}`;
  });
  return `${[
    `To see a difference of ${difference} in ${metric} with a chance of ${percent(power)}:`,
    "",
    `  repeats   apps  chance with ${basis.apps}`,
    ...rows,
    "",
    `Noise of one value: standard deviation ${noiseDeviation.toFixed(2)}, from ${basis.apps} apps, repeats: ${basis.repeats}.`,
    ...(basis.complete ? [] : ["INCOMPLETE: the run has gaps, and they are in the noise."]),
    "This assumes:",
    ...assumptions.map((line) => `- ${line}`),
  ].join("\n")}\n`;
}
