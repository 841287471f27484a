import type { Duplex, Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import { EvowebError, messageOf } from "../../errors.ts";
import { asking, engineFault, statusOf } from "./engine.ts";

// Requests that are answered at once; only a stuck engine takes longer.
const REQUEST_TIMEOUT_MS = 60_000;
const FIRST_POLL_MS = 200;
const MAX_POLL_MS = 1000;
const NEVER_STARTED_CODES: readonly number[] = [126, 127];

/** A program to run in a container. */
export interface ExecSpec {
  readonly argv: readonly string[];
  /** "uid:gid". */
  readonly user: string;
  readonly workingDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether standard input is wanted; without it the program reads an empty one. */
  readonly hasStdin?: boolean;
}

/** A program that runs in a container. */
export interface RunningExec {
  readonly exec: Docker.Exec;
  /** Framed output; written to when `hasStdin`. */
  readonly stream: Duplex;
}

/** How an exec ended, as the engine says. */
export interface ExecEnd {
  readonly exitCode: number;
  /** False when the program could not even be started. */
  readonly hasStarted: boolean;
}

async function isRunning(container: Docker.Container): Promise<boolean> {
  try {
    return (await container.inspect()).State.Running;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw engineFault(error, "looking at a container");
  }
}

/** The fault behind a refusal: a living container that cannot run the program has the wrong image. */
async function refusalOf(container: Docker.Container, error: unknown, spec: ExecSpec): Promise<EvowebError> {
  const status = statusOf(error);
  if (status === undefined) return engineFault(error, `running ${spec.argv[0] ?? ""}`);
  const words = messageOf(error).trim();
  if (!(await isRunning(container))) {
    return new EvowebError("sandbox", `The container is gone, ${spec.argv[0] ?? ""} cannot be run: ${words}`, {
      cause: error,
    });
  }
  if (status === 400 || status === 404) return cannotStart(spec, words);
  return engineFault(error, `running ${spec.argv[0] ?? ""}`);
}

/** The image lacks a program. */
export function cannotStart(spec: Pick<ExecSpec, "argv">, words: string): EvowebError {
  return new EvowebError(
    "image",
    `${spec.argv[0] ?? ""} cannot be started in the image: ${words}. Build the image again (evoweb images build), or choose one that has it.`,
  );
}

/** Starts a program. Throws `EvowebError("image" | "sandbox" | "docker")`. */
export async function startExec(container: Docker.Container, spec: ExecSpec): Promise<RunningExec> {
  try {
    const exec = await container.exec({
      Cmd: [...spec.argv],
      User: spec.user,
      Env: Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
      AttachStdin: spec.hasStdin === true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      ...(spec.workingDir === undefined ? {} : { WorkingDir: spec.workingDir }),
      abortSignal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const stream = await exec.start({ hijack: true, stdin: spec.hasStdin === true });
    return { exec, stream };
  } catch (error) {
    throw await refusalOf(container, error, spec);
  }
}

/** How the exec ended, or undefined while it runs. Throws `EvowebError("docker")`. */
export async function endOf(exec: Docker.Exec): Promise<ExecEnd | undefined> {
  const info = await asking("looking at a command", () =>
    exec.inspect({ abortSignal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }),
  );
  if (info.Running || info.ExitCode === null) return undefined;
  // The engine notes a process id only once the program runs; the exit code alone could also be the program's own.
  return { exitCode: info.ExitCode, hasStarted: !(NEVER_STARTED_CODES.includes(info.ExitCode) && info.Pid === 0) };
}

/** Asks again and again, at growing intervals, until the exec has ended. Rejects with the signal's reason. */
export async function pollEnd(exec: Docker.Exec, signal: AbortSignal): Promise<ExecEnd> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_POLL_MS)) {
    await delay(waitMs, undefined, { signal });
    const end = await endOf(exec);
    if (end !== undefined) return end;
  }
}

/** Resolves when a stream has ended or broke off; never rejects. */
export function streamEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
}
