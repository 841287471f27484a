import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What installs may reach: the package registry that this machine's npm is set up for, as "host:port"; nothing when there is no npm. */
export async function registryTargets(): Promise<readonly string[]> {
  try {
    const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"], { timeout: 20_000 });
    const { hostname, port, protocol } = new URL(stdout.trim());
    return [`${hostname}:${port === "" ? (protocol === "http:" ? "80" : "443") : port}`];
  } catch {
    return [];
  }
}
