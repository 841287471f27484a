import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { posix } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import { EvowebError } from "../../errors.ts";
import { DEFAULT_OUTPUT_BYTES, outputBuffer } from "../output-buffer.ts";
import type { Command, CommandResult, ProcessEnd } from "../sandbox.ts";
import { cannotStart, endOf, pollEnd, startExec, streamEnd } from "./exec.ts";
import type { ExecEnd, RunningExec } from "./exec.ts";
import { FrameReader } from "./frames.ts";

// After the program has ended, what it wrote is still on its way; a child left in the background may hold the stream open.
const QUIET_MS = 250;
const MAX_DRAIN_MS = 8000;
const KILL_WAIT_MS = 5000;
/** Marks the processes of a command, so that they can be found again. */
export const MARKER = "EVOWEB_COMMAND";

/** The container that commands run in, and what the place around it can do. */
export interface CommandHost {
  readonly container: Docker.Container;
  /** "uid:gid" of agents and apps. */
  readonly user: string;
  /** Absolute path that `cwd` is relative to. */
  readonly root: string;
  readonly memoryBytes: number;
  /** How many processes of the place the kernel has killed for want of memory so far. */
  oomKills(): Promise<number>;
  /** Ends all processes that carry this marker, their sessions and descendants. */
  endMarked(marker: string): Promise<void>;
  /** Ends every process of the place. */
  endAll(): Promise<void>;
  /** Commands that run now; kept up by the functions here. */
  readonly running: Set<string>;
}

/** A started command: where its output goes and how it ends. */
interface Watched {
  readonly marker: string;
  readonly end: Promise<ProcessEnd>;
  /** Ends the command early; the reason becomes `how`. */
  stop(how: "timed_out" | "aborted"): void;
}

type StartedCommand = Omit<Command, "timeoutMs">;
type Sink = (kind: "stdout" | "stderr", piece: Buffer) => void;

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** The engine reports a death by signal n as exit code 128+n. */
function exitOf(exitCode: number): Pick<ProcessEnd, "exitCode" | "signal"> {
  const signal = exitCode > 128 ? signalNames.get(exitCode - 128) : undefined;
  return signal === undefined ? { exitCode, signal: null } : { exitCode: null, signal };
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** What has been read and where reading stands. */
interface Reading {
  fault: Error | undefined;
  lastByteAt: number;
  readonly done: Promise<void>;
}

function read(running: RunningExec, sink: Sink): Reading {
  const frames = new FrameReader(sink);
  const reading: Reading = { fault: undefined, lastByteAt: Date.now(), done: streamEnd(running.stream) };
  const guarded = (step: () => void): void => {
    try {
      if (reading.fault === undefined) step();
    } catch (error) {
      reading.fault = error as Error;
      running.stream.destroy();
    }
  };
  running.stream.on("data", (bytes: Buffer) => {
    reading.lastByteAt = Date.now();
    guarded(() => frames.push(bytes));
  });
  running.stream.on("end", () => guarded(() => frames.end()));
  running.stream.on("error", () => {});
  return reading;
}

/** Waits for the end that the engine reports; the stream's end is only a hint, and may never come. */
async function awaitEnd(running: RunningExec, reading: Reading, limit: AbortSignal): Promise<ExecEnd> {
  const stopPolling = new AbortController();
  const signal = AbortSignal.any([limit, stopPolling.signal]);
  const polled = pollEnd(running.exec, signal);
  polled.catch(() => {});
  try {
    const first = await Promise.race([reading.done.then(() => "read" as const), polled]);
    if (reading.fault !== undefined) throw reading.fault;
    if (first === "read") return (await endOf(running.exec)) ?? (await polled);
    const drainUntil = Date.now() + MAX_DRAIN_MS;
    let quietFrom = Math.max(reading.lastByteAt, Date.now());
    while (Date.now() < drainUntil && Date.now() - quietFrom < QUIET_MS) {
      await Promise.race([reading.done, delay(QUIET_MS / 5)]);
      if (running.stream.readableEnded || running.stream.destroyed) break;
      quietFrom = Math.max(quietFrom, reading.lastByteAt);
    }
    return first;
  } finally {
    stopPolling.abort();
  }
}

async function endOrKill(host: CommandHost, running: RunningExec, watch: { marker: string; reading: Reading }) {
  await host.endMarked(watch.marker);
  try {
    return await awaitEnd(running, watch.reading, AbortSignal.timeout(KILL_WAIT_MS));
  } catch (error) {
    if (error instanceof EvowebError) throw error;
  }
  // Something escaped the search, such as a program under another session that emptied its environment.
  await host.endAll();
  try {
    return await awaitEnd(running, watch.reading, AbortSignal.timeout(KILL_WAIT_MS));
  } catch (error) {
    if (error instanceof EvowebError) throw error;
    throw new EvowebError("sandbox", "A command went on after all processes of its place were killed.", {
      cause: error,
    });
  }
}

/** Whether the kernel killed something of this command for want of memory. */
async function wasStarved(host: CommandHost, before: number, isClean: boolean): Promise<boolean> {
  if ((await host.oomKills()) <= before) return false;
  // A pipeline may end with 0 although its head was killed; with others running, a clean end belongs to another's kill.
  return !isClean || host.running.size <= 1;
}

/**
 * The fault of the image behind a command that could not be started. A bare name or a file of the tree is the caller's
 * own affair, as in any shell; an absolute path outside it is a program that the harness relies on.
 */
async function startFault(host: CommandHost, command: StartedCommand, words: string): Promise<EvowebError | undefined> {
  const program = command.argv[0];
  if (!program.startsWith("/") || program.startsWith(`${host.root}/`)) return undefined;
  // The working folder may be what is missing, and that belongs to the app.
  const probe = await startExec(host.container, { argv: ["/usr/bin/test", "-x", program], user: host.user });
  probe.stream.resume();
  const end = await pollEnd(probe.exec, AbortSignal.timeout(KILL_WAIT_MS));
  probe.stream.destroy();
  return end.exitCode === 0 ? undefined : cannotStart(command, words);
}

/** Starts a command, feeds it, and follows it to its end. */
export async function watchCommand(host: CommandHost, command: StartedCommand, sink: Sink): Promise<Watched> {
  const marker = randomUUID();
  const before = await host.oomKills();
  let firstWords = "";
  const running = await startExec(host.container, {
    argv: command.argv,
    user: host.user,
    workingDir: posix.join(host.root, command.cwd ?? "."),
    env: { ...command.env, [MARKER]: marker },
    hasStdin: command.stdin !== undefined,
  });
  host.running.add(marker);
  const reading = read(running, (kind, piece) => {
    if (firstWords.length < 1000) firstWords += piece.toString("utf8");
    sink(kind, piece);
  });
  if (command.stdin !== undefined) running.stream.end(command.stdin);
  const stopper = new AbortController();
  let how: ProcessEnd["how"] = "exited";
  const follow = async (): Promise<ProcessEnd> => {
    try {
      const end = await awaitEnd(running, reading, stopper.signal).catch(async (error: unknown) => {
        if (!stopper.signal.aborted) {
          // The fault at hand says more than a failure to tidy up after it.
          await host.endMarked(marker).catch(() => {});
          throw error;
        }
        const already = await endOf(running.exec);
        how = already === undefined ? (stopper.signal.reason as ProcessEnd["how"]) : "exited";
        return already ?? (await endOrKill(host, running, { marker, reading }));
      });
      if (reading.fault !== undefined) throw reading.fault;
      if (!end.hasStarted) {
        const fault = await startFault(host, command, firstWords.trim());
        if (fault !== undefined) throw fault;
      }
      const isClean = end.exitCode === 0;
      if (how === "exited" && (await wasStarved(host, before, isClean))) {
        const detail = `killed: out of memory, limit ${mebibytes(host.memoryBytes)} (${command.argv.join(" ")})`;
        return { ...exitOf(end.exitCode), how: "out_of_memory", detail };
      }
      return { ...exitOf(end.exitCode), how };
    } finally {
      host.running.delete(marker);
      running.stream.destroy();
    }
  };
  return { marker, end: follow(), stop: (reason) => stopper.abort(reason) };
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Runs a command to its end, within its limits. */
export async function runCommand(host: CommandHost, command: Command): Promise<CommandResult> {
  const startedAt = performance.now();
  const maxBytes = command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const stdout = outputBuffer(maxBytes);
  const stderr = outputBuffer(maxBytes);
  const finish = (end: ProcessEnd): CommandResult => ({
    ...end,
    stdout: stdout.result(),
    stderr: stderr.result(),
    durationMs: performance.now() - startedAt,
  });
  if (isAborted(command.signal)) return finish({ exitCode: null, signal: null, how: "aborted" });
  const watched = await watchCommand(host, command, (kind, piece) => (kind === "stdout" ? stdout : stderr).push(piece));
  const timer = setTimeout(() => watched.stop("timed_out"), command.timeoutMs);
  const abort = (): void => watched.stop("aborted");
  command.signal?.addEventListener("abort", abort, { once: true });
  // It may have come while the command was being started.
  if (isAborted(command.signal)) abort();
  try {
    return finish(await watched.end);
  } finally {
    clearTimeout(timer);
    command.signal?.removeEventListener("abort", abort);
  }
}
