import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  openScriptedModel,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
} from "../agents/scripted-model.ts";
import { WORKSPACES, writeDataSet } from "./data-set.ts";
import { evoweb, startEvoweb, type Finished, type Started } from "../e2e/evoweb.ts";

const exec = promisify(execFile);

const MODEL_KEY = "sk-crash-test";

/** What is run, killed and run again. */
export interface Subject {
  readonly name: string;
  readonly sandbox: "local" | "docker";
  readonly agent: "replay" | "builtin";
  /** Where the agent's model listens; null when it has none. */
  readonly modelUrl: string | null;
  /** Folder of the data set. */
  readonly dataSet: string;
  /** Whether a resume judges again what is MISSING. */
  readonly retriesMissing?: boolean;
}

/** Folders of one run: everything that its processes leave outside of the run folder is in `tmp`. */
export interface Stage extends AsyncDisposable {
  readonly out: string;
  readonly tmp: string;
}

/** Makes the folders of one run. They are short, because sockets are made below. */
export async function openStage(parent: string): Promise<Stage> {
  const dir = await mkdtemp(join(parent, "s-"));
  const tmp = join(dir, "t");
  await mkdir(tmp, { mode: 0o755 });
  return { out: join(dir, "r"), tmp, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/** Folder for the data set and all stages of a program; others may pass through, as the browser's user has to. */
export async function openStages(): Promise<{ readonly dir: string; readonly dataSet: string } & AsyncDisposable> {
  const dir = await mkdtemp(join(tmpdir(), "ec-"));
  await exec("chmod", ["-R", "755", dir]);
  const dataSet = join(dir, "d");
  await writeDataSet(dataSet);
  return { dir, dataSet, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

function argsOf({ sandbox, agent, dataSet }: Subject): readonly string[] {
  const named = agent === "builtin" ? ["builtin", "--model", "scripted-1"] : ["replay"];
  return ["run", "--dataset", dataSet, "--sandbox", sandbox, "--agent", ...named];
}

/** Starts the run, or goes on with it where its folder holds one. `more`: further variables of its environment. */
export function startRun(subject: Subject, stage: Stage, more: Readonly<Record<string, string>> = {}): Started {
  const where = hasRun(stage)
    ? ["--resume", stage.out, ...(subject.retriesMissing === true ? ["--retry-missing"] : [])]
    : ["--out", stage.out];
  const { modelUrl } = subject;
  const model = modelUrl === null ? {} : { EVOWEB_AGENT_BASE_URL: `${modelUrl}/v1`, EVOWEB_AGENT_API_KEY: MODEL_KEY };
  const env = { TMPDIR: stage.tmp, ...model, ...more };
  return startEvoweb([...argsOf(subject), ...where], { cwd: stage.tmp, env });
}

/** Whether there is something to go on with: a kill may come before the folder is made. */
export function hasRun({ out }: Stage): boolean {
  return existsSync(join(out, "run.json"));
}

/** The score document of a run folder, as text. */
export function scoreOf(stage: Stage): Promise<Finished> {
  return evoweb(["score", stage.out, "--json"]);
}

/** Shell commands that write the workspace after each request. */
const COMMANDS = WORKSPACES.map((files) =>
  Object.entries(files)
    .map(([path, text]) => `echo ${Buffer.from(text).toString("base64")} | base64 -d > ${path}`)
    .join("; "),
);

/**
 * A model that writes the app, and knows the request by the turns of the conversation alone: an agent whose session
 * was not brought back writes the wrong app. `port` as of an earlier one, for a model that comes back.
 */
export function openWritingModel(port = 0): Promise<ScriptedModel> {
  return openScriptedModel(write, port);
}

function write({ body }: ScriptedCall): ScriptedReply {
  const messages = body["messages"] as readonly { readonly role: string }[];
  const turn = messages.filter(({ role }) => role === "user").length;
  const done = messages.length - 1 - messages.findLastIndex(({ role }) => role === "user");
  // An answer and its result are two messages. Work that takes a while is what a kill can hit.
  const steps = ["sleep 0.4", COMMANDS[turn - 1] ?? "false", "sleep 0.4"];
  const command = steps[done / 2];
  return command === undefined ? { text: "Done." } : { tools: [{ name: "bash", args: { command } }] };
}
