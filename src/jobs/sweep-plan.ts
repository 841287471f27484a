import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson } from "../dataset/content-hash.ts";
import { EvowebError, messageOf } from "../errors.ts";

const names = z.array(z.string().min(1)).min(1);

/** What a sweep runs: every agent with every model on every split, several times. */
export const SweepProduct = z.strictObject({
  agents: names,
  /** Empty: agents run without a model. */
  models: z.array(z.string().min(1)),
  splits: names,
  repeats: z.int().min(1).max(100),
});
export type SweepProduct = z.infer<typeof SweepProduct>;

/** `sweep.json`: what a sweep was told to do and with what; written once. */
export const SweepJson = z.strictObject({
  schemaVersion: z.literal(1),
  product: SweepProduct,
  /** The options that all runs share, resolved. */
  options: z.record(z.string(), z.unknown()),
  /** Content hash of each split's rows. */
  contentHashes: z.record(z.string(), z.string()),
});
export type SweepJson = z.infer<typeof SweepJson>;

/** One run of a sweep. */
export interface SweepCell {
  /** Name of its folder below the sweep's. */
  readonly name: string;
  readonly agent: string;
  /** Null for an agent that has none. */
  readonly model: string | null;
  readonly split: string;
  /** 1-based. */
  readonly repeat: number;
}

// A solution that is replayed and an agent that does nothing ask no model, whatever models there are.
const hasNoModel = (agent: string): boolean => agent === "noop" || agent === "replay" || agent.startsWith("replay:");

const fileName = (text: string): string => text.replaceAll(/[^A-Za-z0-9.]+/gu, "_");

/** The runs of a sweep in the order in which they are done: repeats last, so that an early stop leaves whole tables. */
export function sweepCells({ agents, models, splits, repeats }: SweepProduct): readonly SweepCell[] {
  const rows = agents.flatMap((agent) => {
    const asked: readonly (string | null)[] = hasNoModel(agent) || models.length === 0 ? [null] : models;
    return asked.map((model) => ({ agent, model }));
  });
  const cells = Array.from({ length: repeats }, (_, index) => index + 1).flatMap((repeat) =>
    rows.flatMap((row) =>
      splits.map((split) => {
        const parts = [row.agent, ...(row.model === null ? [] : [row.model]), split, String(repeat)];
        return { name: parts.map(fileName).join("-"), ...row, split, repeat };
      }),
    ),
  );
  const double = cells.find(({ name }, index) => cells.findIndex((other) => other.name === name) !== index);
  if (double === undefined) return cells;
  throw new EvowebError(
    "usage",
    `two runs of the sweep would be called ${double.name}; name each agent, model and split once`,
  );
}

const pathOf = (dir: string): string => join(dir, "sweep.json");

/** Whether a folder holds a sweep. */
export function isSweep(dir: string): boolean {
  return existsSync(pathOf(dir));
}

/** Reads `sweep.json`; throws `trace`. */
export function readSweep(dir: string): SweepJson {
  try {
    return SweepJson.parse(JSON.parse(readFileSync(pathOf(dir), "utf8")));
  } catch (error) {
    throw new EvowebError(
      "trace",
      `${pathOf(dir)} cannot be read: ${messageOf(error)}. Name a folder that evoweb sweep made`,
      {
        cause: error,
      },
    );
  }
}

/** Writes `sweep.json`, or requires that what stands there is the same; throws `usage` that names what differs. */
export function claimSweep(dir: string, sweep: SweepJson, freeOptions: readonly string[]): void {
  if (!isSweep(dir)) {
    const unfinished = `${pathOf(dir)}.tmp`;
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, `${JSON.stringify(sweep, undefined, 2)}\n`);
    renameSync(unfinished, pathOf(dir));
    return;
  }
  const stored = readSweep(dir);
  const differing = [
    ...differences("product", stored.product, sweep.product),
    ...differences("options", stored.options, sweep.options).filter(
      (text) => !freeOptions.some((name) => text.startsWith(`options.${name} `)),
    ),
    ...differences("content hash of split", stored.contentHashes, sweep.contentHashes),
  ];
  if (differing.length === 0) return;
  throw new EvowebError("usage", `${dir} holds another sweep: ${differing.join("; ")}. Name another --out`);
}

type Fields = Readonly<Record<string, unknown>>;

function differences(what: string, stored: Fields, now: Fields): string[] {
  return [...new Set([...Object.keys(stored), ...Object.keys(now)])].flatMap((name) => {
    const [before, after] = [stored[name], now[name]].map((value) => canonicalJson(value ?? null));
    return before === after ? [] : [`${what}.${name} is ${before} there and ${after} now`];
  });
}
