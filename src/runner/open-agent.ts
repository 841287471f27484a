import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Dataset } from "../dataset/open-dataset.ts";
import { EvowebError } from "../errors.ts";
import { appDirName, readRunFolder } from "../trace/run-folder.ts";
import type { Agent } from "./agent.ts";
import { createCommandAgent } from "./agents/command.ts";
import { createNoopAgent } from "./agents/noop.ts";
import { createAcpAgent, modelAgents } from "./agents/table.ts";
import { createReplayAgent, type ReplaySource } from "./agents/replay.ts";
import type { RunOptions } from "./options.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { packTar, type TarFile } from "./tar.ts";

/** The agent that the options name; throws `EvowebError("usage")` when there is none of that name. */
export function openAgent(options: RunOptions, dataset: Dataset): Agent {
  const [name = "", ...rest] = options.agent.split(":");
  const detail = rest.join(":");
  if (name === "noop" && detail === "") return createNoopAgent();
  if (name === "command" && detail === "") return createCommandAgent(options.command ?? "");
  if (name === "replay") {
    const what = detail === "" ? "solution" : detail;
    return createReplayAgent(options.agent, replaySource(what, dataset));
  }
  const agents = modelAgents();
  const agent = name === "acp" ? openAcpAgent(detail, options) : agents.get(options.agent);
  if (agent !== undefined) return requireUsable(agent, options);
  throw new EvowebError(
    "usage",
    `unknown agent "${options.agent}". Known: replay[:solution|:MUTANT|:SET|:RUNFOLDER], noop, command and acp (with --command), ` +
      [...agents.keys()].join(", "),
  );
}

const openAcpAgent = (detail: string, { command = "" }: RunOptions): Agent =>
  createAcpAgent(detail === "" ? command : detail);

function requireUsable(agent: Agent, { model, session }: RunOptions): Agent {
  if (model === undefined) throw new EvowebError("usage", `--agent ${agent.name} needs --model`);
  if (session === "continue" && agent.canContinue === false) {
    throw new EvowebError("usage", `${agent.name} cannot go on with a conversation; say --session fresh`);
  }
  return agent;
}

function replaySource(what: string, dataset: Dataset): ReplaySource {
  if (existsSync(join(what, "run.json"))) return fromRunFolder(what);
  const { truth } = dataset;
  if (truth === null) {
    throw new EvowebError(
      "usage",
      `--agent replay needs a data set with solutions, and ${dataset.name} has none. ` +
        "Replay a run folder (replay:RUNFOLDER), or use --agent noop or --agent command",
    );
  }
  truth.requireReplay(what);
  return async (rowId, request) => {
    const tree = await truth.replayTree(what, rowId, request);
    const files = [...tree].map(([path, { mode, bytes }]): TarFile => ({ path, mode, bytes }));
    return packTar(files);
  };
}

function fromRunFolder(dir: string): ReplaySource {
  const { rows } = readRunFolder(dir);
  return async (rowId, request) => {
    const sampled = rows.find(({ row }) => row.id === rowId);
    if (sampled === undefined) throw new EvowebError("usage", `run folder ${dir} has no app with the id ${rowId}`);
    const store = await SnapshotStore.open(join(dir, appDirName(sampled.sampleIndex), "workspace.git"));
    const sha = await store.find(request);
    if (sha === null)
      throw new EvowebError("usage", `run folder ${dir} has no snapshot of ${rowId} after request ${request}`);
    return store.toTar(sha);
  };
}
