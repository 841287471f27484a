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
  agent: z.looseObject({ name: z.string() }),
  /** Null for a run without a judge. */
  judge: z.looseObject({ name: z.string(), hash: z.string() }).nullable(),
  browser: z.looseObject({ version: z.string().nullable() }).nullable(),
  /** The container engine; null for local runs. */
  engine: z.looseObject({ version: z.string().nullable() }).nullable(),
  imageDigest: z.string().nullable(),
  host: z.looseObject({ cores: positive, memoryBytes: positive }),
});

/** `run.json`: what a run was told to do and with what; written once and never changed. */
export const RunJson = z.looseObject({
  schemaVersion: z.literal(RUN_VERSION),
  runId: z.string().min(1),
  suite: z.looseObject({ name: z.string(), version: z.string() }),
  /** Position of this run among its repeats. */
  repeat: z.object({ index: positive, of: positive }),
  isolation: z.enum(["check", "request"]),
  observation: z.enum(["locf", "sweep"]),
  /** The run whose snapshots were judged again here; absent for a run with an agent of its own. */
  source: z.looseObject({ runId: z.string(), path: z.string() }).optional(),
  /** The resolved options. */
  options: z.record(z.string(), z.unknown()),
  provenance: Provenance,
});
export type RunJson = z.infer<typeof RunJson>;
