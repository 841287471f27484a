import { Command } from "@commander-js/extra-typings";
import { ensureImage, type ImageOptions } from "../index.ts";

const MEGABYTE = 1e6;

// Commands made by .command() take over the exit override, those added later would not.
export const imagesCommand = new Command("images")
  .description("prepare the image that agents and apps run in")
  .exitOverride();

imagesCommand
  .command("build")
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
  $ evoweb images build --base debian:trixie-slim --json`,
  )
  .action(async ({ base, caFile, json }) => {
    const isJson = json === true;
    const chosen: ImageOptions = {
      ...given("dockerHost", process.env["DOCKER_HOST"]),
      ...given("base", base ?? process.env["EVOWEB_BASE_IMAGE"]),
      ...given("caFile", caFile ?? (process.env["EVOWEB_CA_FILE"] || process.env["NODE_EXTRA_CA_CERTS"])),
      onLine: (line) => void (isJson ? process.stderr : process.stdout).write(`${line}\n`),
    };
    const image = await ensureImage(chosen);
    const size = `${Math.round(image.sizeBytes / MEGABYTE)} MB`;
    const text = `${image.tag} ${image.wasBuilt ? "built" : "is there"} (${size}, ${image.id})`;
    process.stdout.write(`${isJson ? JSON.stringify(image) : text}\n`);
  });

/** An option only when it has a value; an empty variable counts as none. */
function given<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined || value === "" ? {} : ({ [name]: value } as { [key in Name]?: string });
}
