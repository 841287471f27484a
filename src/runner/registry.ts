import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const APT_FOLDER = "/etc/apt";
// pip itself knows where it asks when nothing is set, and where the files of that index lie.
const PIP_DEFAULT =
  "from pip._internal.models.index import PyPI; print(PyPI.simple_url); print('https://' + PyPI.file_storage_domain)";
const ASK_TIMEOUT_MS = 20_000;

/** What installs may reach: the package registries that this machine's npm, pip and apt are set up for, as "host:port". */
export async function registryTargets(): Promise<readonly string[]> {
  const urls = await Promise.all([npmRegistry(), pipIndexes(), aptSources()]);
  return [...new Set(urls.flat().flatMap(targetOf))];
}

/** Address of the npm registry that this machine uses; empty when there is no npm. */
export async function npmRegistry(): Promise<readonly string[]> {
  return (await output("npm", ["config", "get", "registry"])).split("\n").slice(0, 1);
}

/** Addresses that this machine's pip installs from; empty when there is no pip. */
async function pipIndexes(): Promise<readonly string[]> {
  const lines = (await output("pip", ["config", "list"])).split("\n");
  const set = lines.flatMap((line) => /^\S*\bindex-url='(.*)'$/u.exec(line)?.[1]?.split(/\s+/u) ?? []);
  return [...set, ...(await output("python3", ["-c", PIP_DEFAULT])).split("\n")];
}

/** What a build needs to install from where this machine's pip does; only what is set here is said. */
export async function pipSettings(): Promise<Readonly<Record<string, string>>> {
  const lines = (await output("pip", ["config", "list"])).split("\n");
  const set = (name: string): string | undefined =>
    lines
      .map((line) => new RegExp(`^\\S*\\.${name}='(https?:.*)'$`, "u").exec(line)?.[1])
      .find((url) => url !== undefined);
  const index = set("index-url");
  const extra = set("extra-index-url");
  return {
    ...(index === undefined ? {} : { PIP_INDEX_URL: index }),
    ...(extra === undefined ? {} : { PIP_EXTRA_INDEX_URL: extra }),
  };
}

async function aptSources(): Promise<readonly string[]> {
  const parts = await readdir(join(APT_FOLDER, "sources.list.d")).catch(() => []);
  const files = [join(APT_FOLDER, "sources.list"), ...parts.map((name) => join(APT_FOLDER, "sources.list.d", name))];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => !line.trimStart().startsWith("#"));
  return lines.flatMap((line) => line.match(/https?:\/\/\S+/gu) ?? []);
}

async function output(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { timeout: ASK_TIMEOUT_MS })).stdout.trim();
  } catch {
    return "";
  }
}

function targetOf(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { hostname, port, protocol } = new URL(address);
  const standard = protocol === "http:" ? "80" : "443";
  return hostname === "" ? [] : [`${hostname}:${port === "" ? standard : port}`];
}
