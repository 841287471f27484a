import { Command } from "@commander-js/extra-typings";
import { cleanDockerLeftovers, cleanLocalLeftovers, EvowebError, type DockerLeftovers } from "../index.ts";
import { printable } from "./printable.ts";

/** `evoweb clean`: what runs that died could not remove themselves. */
export const cleanCommand = new Command("clean")
  .description("remove containers, volumes, processes and folders that dead runs left behind; living runs are kept")
  .option("--json", "print one JSON document instead of text")
  .addHelpText(
    "after",
    `
Every run does this at its start too. Images and run folders are never touched.

Example:
  $ evoweb clean`,
  )
  .action(async ({ json }) => {
    const local = await cleanLocalLeftovers();
    const docker = await cleanDocker();
    const text =
      json === true
        ? JSON.stringify({ docker, local })
        : printable(
            describe(
              docker,
              local.map(({ folder }) => folder),
            ),
          );
    process.stdout.write(`${text}\n`);
  });

/** Null: there is no engine on this machine, and nobody asked for one. */
async function cleanDocker(): Promise<DockerLeftovers | null> {
  const dockerHost = process.env["DOCKER_HOST"];
  const isChosen = dockerHost !== undefined && dockerHost !== "";
  try {
    return await cleanDockerLeftovers(isChosen ? { dockerHost } : {});
  } catch (error) {
    if (!isChosen && error instanceof EvowebError && error.code === "docker") return null;
    throw error;
  }
}

function describe(docker: DockerLeftovers | null, localFolders: readonly string[]): string {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["container", docker?.containers ?? []],
    ["volume", docker?.volumes ?? []],
    ["folder", [...(docker?.folders ?? []), ...localFolders]],
  ];
  const lines = lists.flatMap(([kind, names]) => names.map((name) => `removed ${kind} ${name}`));
  if (docker === null) lines.push("no Docker engine answers here; only local leftovers were looked for");
  return lines.length === 0 ? "nothing was left behind" : lines.join("\n");
}
