import { z } from "zod";

/** Schema version of run folders this evoweb writes and reads. */
export const RUN_VERSION = 1;

const positive = z.int().min(1);

/** Where a run's inputs and programs came from; what could not be found out is null, what does not apply is absent. */
const Provenance = z.looseObject({
  evoweb: z.looseObject({ version: z.string(), commit: z.string().nullable() }),
  dataset: z.looseObject({
    name: z.string(),
    revision: z.string().nullable(),
    /** Hash over the planned rows. */
    contentHash: z.string(),
  }),
  /** The name is null when an import does not know it. */
  agent: z.looseObject({ name: z.string().nullable() }),
  /** Null for a run without a judge, and for imported results, whose `imported` says more. */
  judge: z.looseObject({ name: z.string(), hash: z.string() }).nullable(),
  browser: z.looseObject({ version: z.string().nullable() }).nullable(),
  /** The container engine; null for local runs. */
  engine: z.looseObject({ version: z.string().nullable() }).nullable(),
  imageDigest: z.string().nullable(),
  /** Null for imported results. */
  host: z.looseObject({ cores: positive, memoryBytes: positive }).nullable(),
});

/** What an import was told; times of its events are that of the import. */
const Imported = z.looseObject({
  layout: z.string(),
  /** File or folder as named on the command line; evidence paths of the traces are relative to it. */
  source: z.string(),
  /** Name of the judge; null when unknown. */
  judge: z.string().nullable(),
  /** True when all agents were taken to have answered, which the source does not say. */
  assumeResponded: z.boolean(),
});

/** `run.json`: what a run was told to do and with what; written once and never changed. */
export const RunJson = z.looseObject({
  schemaVersion: z.literal(RUN_VERSION),
  runId: z.string().min(1),
  suite: z.looseObject({ name: z.string(), version: z.string() }),
  /** Position of this run among its repeats. */
  repeat: z.object({ index: positive, of: positive }),
  /** Null when an import does not know it. */
  isolation: z.enum(["check", "request"]).nullable(),
  /** Null when an import does not know it; the observations then speak for themselves. */
  observation: z.enum(["locf", "sweep"]).nullable(),
  /** The run whose snapshots were judged again here; absent for a run with an agent of its own. */
  source: z.looseObject({ runId: z.string(), path: z.string() }).optional(),
  /** The resolved options. */
  options: z.record(z.string(), z.unknown()),
  provenance: Provenance,
  /** Where the results were imported from; absent for runs that evoweb made. */
  imported: Imported.optional(),
});
export type RunJson = z.infer<typeof RunJson>;
