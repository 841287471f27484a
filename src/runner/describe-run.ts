import type { Dataset } from "../dataset/open-dataset.ts";
import type { BrowserPool } from "../judge/browser-pool.ts";
import type { Judge } from "../judge/judge.ts";
import { RUN_VERSION, type RunJson } from "../trace/run-json.ts";
import type { Agent } from "./agent.ts";
import type { RunOptions } from "./options.ts";
import { PREAMBLE_VERSION, preambleHash } from "./preamble.ts";
import { evowebVersion, hostFacts } from "./provenance.ts";
import type { Sandbox } from "./sandbox.ts";

/** What a run is described from. */
export interface Described {
  readonly runId: string;
  readonly options: RunOptions;
  readonly dataset: Pick<Dataset, "name" | "contentHash" | "truth"> &
    Partial<Pick<Dataset, "config" | "split" | "revision">>;
  readonly agent: Pick<Agent, "name" | "version">;
  /** Absent or null when the agent runs in the sandbox's own image, or in none. */
  readonly agentImage?: { readonly tag: string; readonly id: string } | null;
  readonly judge: Judge | null;
  readonly sandbox: Sandbox;
  readonly pool: BrowserPool;
}

/** The content of run.json: everything somebody needs to know to trust or repeat its numbers. */
export async function describeRun(run: Described): Promise<RunJson> {
  const { runId, options, dataset, judge, sandbox, pool } = run;
  const place = await sandbox.describe();
  return {
    schemaVersion: RUN_VERSION,
    runId,
    suite: { name: "evoweb", version: "1" },
    repeat: options.repeat,
    isolation: options.isolation,
    observation: options.observation,
    options: { ...options, sandbox: sandbox.kind },
    provenance: {
      evoweb: evowebVersion(),
      dataset: {
        name: dataset.name,
        config: dataset.config ?? null,
        split: dataset.split ?? null,
        revision: dataset.revision ?? null,
        contentHash: dataset.contentHash,
        truthHash: (await dataset.truth?.hash()) ?? null,
      },
      agent: describeAgent(run),
      judge: judge === null ? null : { name: judge.name, hash: judge.hash },
      browser: { ...pool.info },
      engine: place.engine === undefined ? null : { version: place.engine },
      imageDigest: place.image ?? null,
      sandbox: { kind: place.kind, notes: place.notes },
      host: hostFacts(),
    },
  };
}

function describeAgent({ agent, agentImage, options }: Described) {
  return {
    name: agent.name,
    ...(agent.version === undefined ? {} : { version: agent.version }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(agentImage === null || agentImage === undefined
      ? {}
      : { image: { tag: agentImage.tag, digest: agentImage.id } }),
    preamble: { version: PREAMBLE_VERSION, sha256: preambleHash() },
  };
}
