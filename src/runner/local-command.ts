import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { EvowebError, messageOf } from "../errors.ts";
import { openStreams } from "./local-pipes.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import { endProcesses, findProcesses, type Belonging } from "./processes.ts";
import type { ProcessEnd } from "./sandbox.ts";

/** Between SIGTERM and SIGKILL of a command whose time is over. */
const STOP_GRACE_MS = 1000;
/** A background child may hold the output open; the command counts as read once nothing came for this long. */
const QUIET_MS = 40;
const DRAIN_LIMIT_MS = 2000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// As shells say it.
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_EXECUTABLE = 126;

/** A process to start: everything resolved, nothing inherited. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  /** Absolute folder. */
  readonly cwd: string;
  /** The whole environment, with the marker that `belonging` looks for. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Folder and new name for what the streams need on the disk for a moment. */
  readonly scratch: { readonly folder: string; readonly name: string };
  /** Absent: no deadline. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Where stdout and stderr go; may be the same buffer. */
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  readonly belonging: Belonging;
}

/** A launched command. */
export interface Launched {
  /** Resolves once the process itself has ended and what it wrote has been read; rejects only when the place is at fault. */
  readonly ended: Promise<ProcessEnd>;
  /** The session it leads; absent when it never started. */
  readonly session: number | undefined;
  /** Whether something, such as a background child, still holds its output. */
  isOpen(): boolean;
  /** Lets go of the output. */
  release(): void;
}

function failedStart(error: NodeJS.ErrnoException, launch: Launch): ProcessEnd {
  if (error.code !== "ENOENT" && error.code !== "EACCES" && error.code !== "ENOTDIR") {
    throw new EvowebError("sandbox", `Cannot start ${launch.argv[0]}: ${messageOf(error)}`, { cause: error });
  }
  launch.stderr.push(Buffer.from(`evoweb: cannot start ${launch.argv[0]} in ${launch.cwd}: ${error.code}\n`));
  const exitCode = error.code === "EACCES" ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
  return { exitCode, signal: null, how: "exited" };
}

/** Waits until both pipes are closed, or stay quiet because a background child holds them. */
async function drained(pipes: readonly Readable[], bytesRead: () => number): Promise<void> {
  const isOpen = (): boolean => pipes.some((pipe) => !pipe.closed && !pipe.readableEnded);
  const giveUpAt = Date.now() + DRAIN_LIMIT_MS;
  const closed = Promise.all(pipes.map((pipe) => new Promise((resolve) => void pipe.once("close", resolve))));
  let quietRounds = 0;
  while (isOpen() && quietRounds < 2 && Date.now() < giveUpAt) {
    const before = bytesRead();
    await Promise.race([closed, delay(QUIET_MS)]);
    quietRounds = bytesRead() === before ? quietRounds + 1 : 0;
  }
}

/** Ends a command at its deadline or on abort; tells which of them came first. */
class Stopper {
  how: "exited" | "timed_out" | "aborted" = "exited";
  #ending: Promise<unknown> = Promise.resolve();
  readonly #launch: Launch;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#stop("aborted");

  constructor(launch: Launch) {
    this.#launch = launch;
    if (launch.timeoutMs !== undefined) {
      this.#timer = setTimeout(() => this.#stop("timed_out"), Math.min(launch.timeoutMs, LONGEST_TIMER_MS));
    }
    launch.signal?.addEventListener("abort", this.#onAbort);
  }

  #stop(how: "timed_out" | "aborted"): void {
    this.disarm();
    this.how = how;
    this.#ending = endProcesses(() => findProcesses(this.#launch.belonging), STOP_GRACE_MS);
    // Awaited in `finished`; until then a rejection must not count as unhandled.
    this.#ending.catch(() => undefined);
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.#launch.signal?.removeEventListener("abort", this.#onAbort);
  }

  async finished(): Promise<void> {
    this.disarm();
    await this.#ending;
  }
}

async function spawnChild(launch: Launch): Promise<{ child: ChildProcess; readers: readonly [Readable, Readable] }> {
  const [program, ...args] = launch.argv;
  const { folder, name } = launch.scratch;
  const streams = await openStreams(folder, name, launch.stdin);
  try {
    // Detached: the child leads a session of its own whose number is its pid.
    const child = spawn(program, args, { cwd: launch.cwd, env: launch.env, detached: true, stdio: [...streams.stdio] });
    return { child, readers: streams.readers };
  } catch (error) {
    for (const reader of streams.readers) reader.destroy();
    throw new EvowebError("sandbox", `Cannot start ${program}: ${messageOf(error)}`, { cause: error });
  } finally {
    streams.handOver();
  }
}

/** Starts a process in a session of its own; its output is read until it and its children are gone. */
export async function launchCommand(launch: Launch): Promise<Launched> {
  if (launch.signal?.aborted === true) {
    const ended = Promise.resolve({ exitCode: null, signal: null, how: "aborted" } as const);
    return { ended, session: undefined, isOpen: () => false, release: () => undefined };
  }
  const { child, readers } = await spawnChild(launch);
  const [stdout, stderr] = readers;
  stdout.on("data", (chunk: Buffer) => launch.stdout.push(chunk));
  stderr.on("data", (chunk: Buffer) => launch.stderr.push(chunk));
  for (const pipe of readers) pipe.on("error", () => undefined);
  if (child.pid !== undefined) launch.belonging.sessions.add(child.pid);
  const stopper = new Stopper(launch);
  const exit = new Promise<{ exitCode: number | null; signal: string | null }>((resolve, reject) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    child.once("error", reject);
  });
  const ended = exit.then(
    async (status): Promise<ProcessEnd> => {
      await stopper.finished();
      await drained([stdout, stderr], () => launch.stdout.totalBytes() + launch.stderr.totalBytes());
      return { ...status, how: stopper.how };
    },
    (error: unknown) => {
      stopper.disarm();
      return failedStart(error as NodeJS.ErrnoException, launch);
    },
  );
  return {
    ended,
    session: child.pid,
    isOpen: () => !stdout.closed || !stderr.closed,
    release() {
      stopper.disarm();
      stdout.destroy();
      stderr.destroy();
    },
  };
}
