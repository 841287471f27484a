import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import { EvowebError } from "../../errors.ts";
import type { AgentLayer } from "../agent.ts";
import { npmRegistry, pipSettings } from "../registry.ts";
import { asking, connectEngine } from "./engine.ts";
import { hasImage } from "./image-base.ts";
import { APP_UID } from "./image-recipe.ts";
import { ensureImage, followBuild, type ImageOptions, type SandboxImage } from "./images.ts";
import { withLock } from "./lock.ts";

const BUILD_CA = "/etc/ssl/evoweb-build-ca.pem";
const CA_VARIABLES = ["NODE_EXTRA_CA_CERTS", "npm_config_cafile", "PIP_CERT", "SSL_CERT_FILE"];
/** Build arguments that become variables while the layer's lines run, and none of the image. */
const BUILD_VARIABLES = ["npm_config_registry", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", ...CA_VARIABLES];

/** An agent as far as its image is concerned. */
export interface LayeredAgent {
  readonly name: string;
  readonly layer: AgentLayer;
}

/** The Dockerfile of an agent's image: its layer's lines on a base given as build argument BASE. */
function agentDockerfile({ dockerfile, env = {}, selfTest }: AgentLayer): string {
  return [
    "ARG BASE",
    "FROM ${BASE}",
    "USER root",
    ...BUILD_VARIABLES.map((name) => `ARG ${name}`),
    `COPY build-ca.pem ${BUILD_CA}`,
    ...dockerfile,
    ...Object.entries(env).map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`),
    `RUN rm -f ${BUILD_CA}`,
    ...(env["HOME"] === undefined ? [`ENV HOME=/home/app`] : []),
    `USER ${APP_UID}:${APP_UID}`,
    `RUN env ${BUILD_VARIABLES.map((name) => `-u ${name}`).join(" ")} ${selfTest.map(quoted).join(" ")}`,
    "",
  ].join("\n");
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

function tagOf({ name, layer }: LayeredAgent, base: string): string {
  const hash = createHash("sha256").update(JSON.stringify([base, agentDockerfile(layer)]));
  return `evoweb-agent-${name}:${hash.digest("hex").slice(0, 12)}`;
}

/**
 * The image of an agent, built on evoweb's own on first use; the same recipe has the same tag. Throws
 * `EvowebError("image" | "docker")`.
 */
export async function ensureAgentImage(agent: LayeredAgent, options: ImageOptions = {}): Promise<SandboxImage> {
  const docker = connectEngine(options);
  const base = await ensureImage(options);
  const tag = tagOf(agent, base.tag);
  let wasBuilt = false;
  if (!(await hasImage(docker, tag))) {
    await withLock(tag.replace(":", "-"), options.signal, async () => {
      if (await hasImage(docker, tag)) return;
      await build(docker, { agent, tag, base: base.tag }, options);
      wasBuilt = true;
    });
  }
  const { Id: id, Size: sizeBytes } = await asking(`looking at ${tag}`, () => docker.getImage(tag).inspect());
  return { tag, id, sizeBytes, wasBuilt };
}

interface Build {
  readonly agent: LayeredAgent;
  readonly tag: string;
  readonly base: string;
}

async function build(docker: Docker, { agent, tag, base }: Build, options: ImageOptions): Promise<void> {
  const { caFile, signal, onLine = (): void => {} } = options;
  onLine(`building ${tag} on ${base}`);
  const context = pack();
  context.entry({ name: "Dockerfile" }, agentDockerfile(agent.layer));
  context.entry({ name: "build-ca.pem", mode: 0o644 }, caFile === undefined ? "" : await readFile(caFile));
  context.finalize();
  const [registry] = await npmRegistry();
  const buildargs: Record<string, string> = {
    BASE: base,
    ...(registry === undefined || registry === "" ? {} : { npm_config_registry: registry }),
    ...(await pipSettings()),
    ...(caFile === undefined ? {} : Object.fromEntries(CA_VARIABLES.map((name) => [name, BUILD_CA]))),
  };
  const stream = await asking(`building ${tag}`, () =>
    docker.buildImage(Readable.from(context), {
      t: tag,
      labels: { "evoweb.image": "1", "evoweb.agent": agent.name },
      nocache: true,
      rm: true,
      buildargs,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    }),
  );
  await followBuild(docker, stream, { tag, onLine });
}

/** An image that evoweb has made. */
export interface ListedImage {
  readonly tag: string;
  readonly id: string;
  readonly sizeBytes: number;
  /** Whether the recipes of this evoweb would use it. */
  readonly isCurrent: boolean;
}

const OURS = /^evoweb-(?:sandbox|agent-[\w.-]+):/u;

/** Images of evoweb that the engine has, those of older recipes included. */
export async function listImages(
  agents: readonly LayeredAgent[],
  options: ImageOptions = {},
): Promise<readonly ListedImage[]> {
  const docker = connectEngine(options);
  const base = await ensureImage(options);
  const current = new Set([base.tag, ...agents.map((agent) => tagOf(agent, base.tag))]);
  const images = await asking("listing images", () => docker.listImages());
  return images.flatMap(({ RepoTags: tags, Id: id, Size: sizeBytes }) =>
    (tags ?? []).filter((tag) => OURS.test(tag)).map((tag) => ({ tag, id, sizeBytes, isCurrent: current.has(tag) })),
  );
}

/** Removes the images of older recipes that no container uses; returns their tags. */
export async function pruneImages(
  agents: readonly LayeredAgent[],
  options: ImageOptions = {},
): Promise<readonly string[]> {
  const docker = connectEngine(options);
  const removed: string[] = [];
  for (const { tag, isCurrent } of await listImages(agents, options)) {
    if (isCurrent) continue;
    try {
      await docker.getImage(tag).remove();
      removed.push(tag);
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode !== 409) {
        throw new EvowebError("docker", `image ${tag} cannot be removed`, { cause: error });
      }
    }
  }
  return removed;
}
