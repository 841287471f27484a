import { Command } from "@commander-js/extra-typings";
import { readStanding, type RunStanding } from "../index.ts";

/** `evoweb status`: how a run or sweep stands, from another shell. */
export const statusCommand = new Command("status")
  .description("Say how a run or sweep stands: who runs it, what each app does, verdicts, what was spent, time left.")
  .argument("<dir>", "folder of a run or of a sweep")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb status runs/r1
  $ evoweb status runs/sweep1 --json`,
  )
  .action((dir, { json }) => {
    const standing = readStanding(dir, new Date());
    if (json === true) {
      process.stdout.write(`${JSON.stringify(standing)}\n`);
      return;
    }
    const { holder } = standing;
    const who = holder === null ? "no process" : `process ${holder.pid} on ${holder.host}`;
    const head = standing.kind === "sweep" ? [`sweep ${dir}: written by ${who}`] : [];
    process.stdout.write(`${[...head, ...standing.runs.flatMap(runLines)].join("\n")}\n`);
  });

function runLines(run: RunStanding): string[] {
  const { dir, state, holder, apps, spent, finishedRequests, requests, etaMs } = run;
  const who = holder === null ? "" : ` by process ${holder.pid} on ${holder.host}`;
  const left = etaMs === null ? "" : `, about ${Math.ceil(etaMs / 60_000)} min left`;
  const verdicts = Object.entries(run.verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  const parts = [
    `${finishedRequests}/${requests} requests${left}`,
    ...(verdicts.length === 0 ? [] : [verdicts.join(", ")]),
    ...(spent.calls === 0 ? [] : [`${spent.calls} model calls, ${spent.tokens} tokens, $${spent.costUsd.toFixed(2)}`]),
  ];
  const open = apps.filter((app) => app.state === "begun" || app.state === "stopped");
  return [
    `${dir}: ${state}${who}; ${parts.join("; ")}`,
    ...open.map(({ sampleIndex, request, requests: planned, last, spent: own, state: now }) => {
      const cost = own.costUsd === 0 ? "" : `  $${own.costUsd.toFixed(2)}`;
      const doing = last === null ? "" : `  ${last.type} at ${last.time}`;
      return `  app ${sampleIndex}  request ${request}/${planned}  ${now}${cost}${doing}`;
    }),
  ];
}
