import { EvowebError } from "../errors.ts";
import type { RunJson } from "../trace/run-json.ts";

/**
 * Refuses to go on with a run whose inputs are no longer what it was started with: rows, solutions that are replayed, or the
 * judge with its oracles or prompts. Throws `EvowebError("dataset")` that names each difference.
 */
export function requireSameInputs(stored: RunJson, now: RunJson): void {
  const changed = inputsOf(now).flatMap(([what, value], position) => {
    const before = inputsOf(stored)[position]?.[1];
    // What an older evoweb did not record cannot be compared.
    return before === undefined || before === value ? [] : [`${what} was ${short(before)} and is ${short(value)}`];
  });
  if (changed.length === 0) return;
  throw new EvowebError(
    "dataset",
    `run ${stored.runId} was started with other inputs: ${changed.join("; ")}. ` +
      "Put them back as they were, or start a new run",
  );
}

function inputsOf({ provenance: { dataset, judge } }: RunJson): readonly (readonly [string, unknown])[] {
  return [
    ["the hash of the rows", dataset.contentHash],
    ["the hash of the solutions and mutants", dataset["truthHash"]],
    ["the judge", judge?.name ?? "none"],
    ["the hash of the judge", judge?.hash ?? "none"],
  ];
}

function short(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 12) : String(value);
}
