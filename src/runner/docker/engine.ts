import { readFileSync } from "node:fs";
import Docker from "dockerode";
import { EvowebError, messageOf } from "../../errors.ts";

/** How to reach a Docker engine. */
export interface EngineOptions {
  /** As in DOCKER_HOST: `unix:///path`, `tcp://host:port`; default: the engine's usual socket on this machine. */
  readonly dockerHost?: string;
}

/** A client for the engine; nothing is asked of it yet. Throws `EvowebError("usage")` for a host that cannot be read. */
export function connectEngine(options: EngineOptions = {}): Docker {
  const { dockerHost } = options;
  if (dockerHost === undefined || dockerHost === "") return new Docker({ socketPath: "/var/run/docker.sock" });
  if (dockerHost.startsWith("unix://")) return new Docker({ socketPath: dockerHost.slice("unix://".length) });
  const url = URL.canParse(dockerHost) ? new URL(dockerHost) : undefined;
  if (url === undefined || !["tcp:", "http:"].includes(url.protocol) || url.port === "") {
    throw new EvowebError("usage", `Docker host ${dockerHost}: expected unix:///path/to/socket or tcp://host:port.`);
  }
  return new Docker({ host: url.hostname, port: Number(url.port), protocol: "http" });
}

/** The engine's answer to a request it refused, as dockerode words it. */
interface Refusal {
  readonly statusCode: number;
  readonly message: string;
}

/** The HTTP status that the engine answered with, or undefined when it did not answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof Error && "statusCode" in error ? (error as Error & Refusal).statusCode : undefined;
}

/** Wraps what the engine or the connection to it said; errors of ours pass unchanged. */
export function engineFault(error: unknown, doing: string): EvowebError {
  if (error instanceof EvowebError) return error;
  const advice =
    statusOf(error) === undefined ? " Is the Docker engine running, and may this user reach its socket?" : "";
  return new EvowebError("docker", `Docker, ${doing}: ${messageOf(error).trim()}.${advice}`, { cause: error });
}

/** Runs one request to the engine; what goes wrong becomes `EvowebError("docker")`. */
export async function asking<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw engineFault(error, doing);
  }
}

/** The text of a certificate file given by the user. Throws `EvowebError("usage")`. */
export function readCaFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new EvowebError("usage", `CA file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** The engine's version. Throws `EvowebError("docker")` when none answers. */
export async function engineVersion(options: EngineOptions): Promise<string> {
  const { Version: version } = await asking("asking for its version", () => connectEngine(options).version());
  return version;
}
