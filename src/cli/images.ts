import { Command } from "@commander-js/extra-typings";
import {
  ensureAgentImage,
  ensureImage,
  EvowebError,
  listImages,
  modelAgents,
  pruneImages,
  type ImageOptions,
  type LayeredAgent,
} from "../index.ts";

const MEGABYTE = 1e6;

// Commands made by .command() take over the exit override, those added later would not.
export const imagesCommand = new Command("images")
  .description("prepare, list and remove the images that agents and apps run in")
  .exitOverride();

imagesCommand
  .command("build")
  .argument("[agent]", "build the image of this agent too")
  .description("build the sandbox image when it is not there yet; a run does the same on first use")
  .option("--base <image>", "Debian-like image to build on; default: EVOWEB_BASE_IMAGE, else Debian itself")
  .option(
    "--ca-file <file>",
    "extra certificate authorities (PEM) for fetching packages; default: EVOWEB_CA_FILE or NODE_EXTRA_CA_CERTS",
  )
  .option("--json", "print one JSON document instead of text; progress goes to stderr")
  .addHelpText(
    "after",
    `
The base is an image that the engine has, or is pulled. Where no image registry is reached and evoweb runs as root, it is
made from Debian packages with debootstrap. Node comes from the npm registry. Takes about 20 s with a base at hand,
50 s with debootstrap, and 570 MB.

Examples:
  $ evoweb images build
  $ evoweb images build pi
  $ evoweb images build --base debian:trixie-slim --json`,
  )
  .action(async (agent, { base, caFile, json }) => {
    const isJson = json === true;
    const chosen: ImageOptions = {
      ...given("dockerHost", process.env["DOCKER_HOST"]),
      ...given("base", base ?? process.env["EVOWEB_BASE_IMAGE"]),
      ...given("caFile", caFile ?? (process.env["EVOWEB_CA_FILE"] || process.env["NODE_EXTRA_CA_CERTS"])),
      onLine: (line) => void (isJson ? process.stderr : process.stdout).write(`${line}\n`),
    };
    const image = await (agent === undefined ? ensureImage(chosen) : ensureAgentImage(layeredAgent(agent), chosen));
    const size = `${Math.round(image.sizeBytes / MEGABYTE)} MB`;
    const text = `${image.tag} ${image.wasBuilt ? "built" : "is there"} (${size}, ${image.id})`;
    process.stdout.write(`${isJson ? JSON.stringify(image) : text}\n`);
  });

/** An option only when it has a value; an empty variable counts as none. */
function given<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined || value === "" ? {} : ({ [name]: value } as { [key in Name]?: string });
}

function layeredAgents(): readonly LayeredAgent[] {
  return [...modelAgents().values()].flatMap(({ name, layer }) => (layer === undefined ? [] : [{ name, layer }]));
}

function layeredAgent(name: string): LayeredAgent {
  const agents = layeredAgents();
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent !== undefined) return agent;
  const known = agents.map((candidate) => candidate.name).join(", ");
  throw new EvowebError("usage", `no agent "${name}" has an image of its own. Those that have one: ${known}`);
}

const engineOf = (): ImageOptions => ({
  ...given("dockerHost", process.env["DOCKER_HOST"]),
  ...given("base", process.env["EVOWEB_BASE_IMAGE"]),
});

imagesCommand
  .command("list")
  .description("list evoweb's images; those of older recipes are marked as old")
  .option("--json", "print one JSON document instead of text")
  .addHelpText("after", "\nExample:\n  $ evoweb images list")
  .action(async ({ json }) => {
    const images = await listImages(layeredAgents(), engineOf());
    const lines = images.map(({ tag, sizeBytes, isCurrent }) => {
      return `${tag} ${Math.round(sizeBytes / MEGABYTE)} MB${isCurrent ? "" : " (old)"}\n`;
    });
    process.stdout.write(json === true ? `${JSON.stringify(images)}\n` : lines.join(""));
  });

imagesCommand
  .command("prune")
  .description("remove images of older recipes that no container uses")
  .option("--json", "print one JSON document instead of text")
  .addHelpText("after", "\nExample:\n  $ evoweb images prune")
  .action(async ({ json }) => {
    const removed = await pruneImages(layeredAgents(), engineOf());
    process.stdout.write(
      json === true ? `${JSON.stringify(removed)}\n` : removed.map((tag) => `removed ${tag}\n`).join(""),
    );
  });
