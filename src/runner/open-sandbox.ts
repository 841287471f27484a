import { EvowebError, messageOf } from "../errors.ts";
import type { Agent } from "./agent.ts";
import { openDockerSandbox } from "./docker/docker-sandbox.ts";
import { engineVersion } from "./docker/engine.ts";
import { ensureImage } from "./docker/images.ts";
import { cleanDockerLeftovers } from "./docker/leftovers.ts";
import type { RunEnvironment } from "./environment.ts";
import { cleanLocalLeftovers } from "./local-leftovers.ts";
import { openLocalSandbox } from "./local-sandbox.ts";
import type { RunOptions } from "./options.ts";
import type { Sandbox } from "./sandbox.ts";

/** What decides which sandbox a run gets. */
export interface SandboxChoice {
  readonly options: Pick<RunOptions, "sandbox" | "image" | "caFile">;
  readonly agent: Pick<Agent, "name" | "runsGeneratedCommands">;
  readonly environment: RunEnvironment;
  readonly runId: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Docker where an engine answers. Only agents that run no generated commands fall back to plain processes by themselves;
 * an engine that was named (DOCKER_HOST, --sandbox docker) and does not answer is an error.
 */
export async function openSandbox(choice: SandboxChoice): Promise<Sandbox> {
  const { options, agent, environment, say } = choice;
  if (options.sandbox === "local") return openLocal(choice);
  const isAskedFor = options.sandbox === "docker" || environment.dockerHost !== undefined;
  try {
    await engineVersion(environment);
  } catch (error) {
    if (isAskedFor || !(error instanceof EvowebError)) throw error;
    if (agent.runsGeneratedCommands) {
      throw new EvowebError(
        "docker",
        `no Docker engine answers, and the agent ${agent.name} runs commands that nobody has read. ` +
          "Start an engine (evoweb doctor), or say --sandbox local to run them as your own user without any isolation",
        { cause: error },
      );
    }
    say("no Docker engine answers: using plain processes instead (--sandbox docker would insist)");
    return openLocal(choice);
  }
  return openDocker(choice);
}

async function openDocker({ options, environment, runId, say, signal }: SandboxChoice): Promise<Sandbox> {
  const ca = options.caFile === undefined ? {} : { caFile: options.caFile };
  const { dockerHost, baseImage } = environment;
  const engine = dockerHost === undefined ? {} : { dockerHost };
  const base = baseImage === undefined ? {} : { base: baseImage };
  const image = options.image ?? (await ensureImage({ ...engine, ...base, ...ca, onLine: say, signal })).tag;
  await tidy(say, async () => {
    const { containers, volumes } = await cleanDockerLeftovers(engine);
    return [...containers, ...volumes];
  });
  say(`sandbox: docker, image ${image}`);
  return openDockerSandbox({ ...engine, ...ca, runId, image });
}

/** Removes what dead runs left. That it does not succeed is no reason not to start. */
async function tidy(say: (line: string) => void, clean: () => Promise<readonly string[]>): Promise<void> {
  try {
    const removed = await clean();
    if (removed.length > 0) say(`removed what a dead run left: ${removed.join(", ")}`);
  } catch (error) {
    say(`leftovers of dead runs could not be removed: ${messageOf(error)}`);
  }
}

async function openLocal({ runId, say }: SandboxChoice): Promise<Sandbox> {
  say("sandbox: local. Plain processes of this user, NO isolation: run only what you would run yourself");
  await tidy(say, async () => (await cleanLocalLeftovers()).map(({ folder }) => folder));
  return openLocalSandbox({ runId });
}
