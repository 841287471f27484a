import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { estimateRun, type RunEstimate } from "../index.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, RUN_FLAGS } from "./run-flags.ts";

/** `evoweb estimate`: what a run will take, before it takes it. */
export function estimateCommand(): CommandUnknownOpts {
  const command = new Command("estimate")
    .description("Say what a run is expected to take: model calls, tokens, cost and time, and what that rests on.")
    .option("--like <run>", "an earlier run of the same kind (default: rough defaults, marked as such)")
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText(
      "after",
      `
Examples:
  $ evoweb estimate --agent pi --model small --apps 1-5 --like runs/r1
  $ evoweb estimate --agent builtin --model small`,
    );
  for (const flag of Object.values(RUN_FLAGS)) command.addOption(flag);
  return command.action(async (flags: { readonly [attribute: string]: unknown; like?: string; json: boolean }) => {
    const { like, json } = flags;
    const estimate = await estimateRun({ given: givenOptions(flags), like, environment: readEnvironment() });
    process.stdout.write(json ? `${JSON.stringify(estimate)}\n` : estimateText(estimate));
  });
}

function estimateText({ apps, requests, checks, appsAtOnce, agent, judge, wallMs, basis }: RunEstimate): string {
  const line = (who: string, { calls, tokens, costUsd }: RunEstimate["agent"]): string => {
    return `  ${who}  ${calls} calls, ${tokens} tokens, ${costUsd === null ? "cost unknown" : `$${costUsd.toFixed(2)}`}`;
  };
  return `${[
    `${apps} apps, ${requests} requests, ${checks} checks, ${appsAtOnce} apps at a time:`,
    line("agent", agent),
    line("judge", judge),
    `  time   about ${Math.ceil(wallMs / 60_000)} min`,
    `Basis: ${basis.text}.`,
  ].join("\n")}\n`;
}
