import type { Duplex } from "node:stream";
import type { AppDown } from "./app-down.ts";
import type { AppPlan } from "./app-plan.ts";
import { openAppProxy, type AppProxy } from "./app-proxy.ts";
import { waitUntilReady, type Ready, type SettleTimes } from "./readiness.ts";
import type { CappedOutput, Place, ProcessEnd, StartedProcess } from "./sandbox.ts";
import type { PreparedApp, PrepareOptions } from "./serve.ts";
import { STATIC_SERVER } from "./static-server.ts";

const START_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2000;
const SETTLE: SettleTimes = { plainMs: 1000, errorMs: 3000 };
const STOP_GRACE_MS = 2000;
const LOG_BYTES = 256 * 1024;

/** Where and within which limits an app is started. */
export interface StartOptions extends Pick<PrepareOptions, "sandbox" | "label" | "limits" | "signal"> {
  /** From the start command to the accepted answer; default 60,000. */
  readonly startTimeoutMs?: number;
  /** For the first probe of a port, doubled after every silence; default 2,000. */
  readonly probeTimeoutMs?: number;
  /** How long an answer that is no page must stay the same; default 1,000 below 300 and 3,000 for 4xx. */
  readonly settle?: SettleTimes;
}

/** An app that answers, in a copy of its own. Disposing ends it and throws the copy away. */
export interface RunningApp extends AsyncDisposable {
  readonly status: "up";
  /** "http://localhost:PORT/", to be opened through the proxy. */
  readonly url: string;
  readonly port: number;
  /** From the start of the process to the accepted answer, of the latest start. */
  readonly startMs: number;
  /** HTTP status of `/` at that answer. */
  readonly httpStatus: number;
  /** The start command as text. */
  readonly command: string;
  /** How often a port that had answered vanished while the app came up. */
  readonly restarts: number;
  readonly place: Place;
  readonly proxy: AppProxy;
  /** Resolves when the start command of the latest start ends, wanted or not; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Whether the start command still runs, or left its server behind on purpose, and the port is still open. */
  isAlive(): Promise<boolean>;
  /** Connections of the page to the app's port that nobody took since the latest start: a sign that it went away meanwhile. */
  lostConnections(): number;
  /** Ends every process of the app and starts it again on the same data; null when it is up again. */
  restart(): Promise<AppDown | null>;
  /** What the latest start has written so far. */
  log(): CappedOutput;
}

interface Start {
  readonly process: StartedProcess;
  readonly ready: Ready;
  /** Set once the start command has ended. */
  readonly end: () => ProcessEnd | undefined;
}

/** Starts the command once and waits for an answer; on failure nothing of it is left running. */
async function startOnce(place: Place, plan: AppPlan, task: StartTask): Promise<Start | AppDown> {
  const startedAt = performance.now();
  const process = await place.start({
    argv: task.argv,
    cwd: plan.folder,
    env: {
      PORT: String(task.suggestedPort),
      HOST: "localhost",
      BROWSER: "none",
      NO_COLOR: "1",
      npm_config_update_notifier: "false",
    },
    maxOutputBytes: LOG_BYTES,
  });
  let ended: ProcessEnd | undefined;
  void process.ended.then((end) => (ended = end));
  const { options, suggestedPort } = task;
  const ready = await waitUntilReady({
    place,
    process,
    suggestedPort,
    startedAt,
    startTimeoutMs: options.startTimeoutMs ?? START_TIMEOUT_MS,
    probeTimeoutMs: options.probeTimeoutMs ?? PROBE_TIMEOUT_MS,
    settle: options.settle ?? SETTLE,
    signal: options.signal,
  });
  if (ready.status === "ready") return { process, ready, end: () => ended };
  await place.endProcesses(0);
  return { ...ready, evidence: { command: task.command, ...ready.evidence } };
}

interface StartTask {
  readonly argv: readonly [string, ...string[]];
  readonly command: string;
  readonly suggestedPort: number;
  readonly options: StartOptions;
}

/** The way into a place, with a count of the connections that each port refused. */
class Door {
  readonly lost = new Map<number, number>();
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  async connect(port: number): Promise<Duplex> {
    try {
      return await this.#place.connect(port);
    } catch (error) {
      this.lost.set(port, (this.lost.get(port) ?? 0) + 1);
      throw error;
    }
  }
}

class App implements RunningApp {
  readonly status = "up";
  readonly place: Place;
  readonly proxy: AppProxy;
  readonly #plan: AppPlan;
  readonly #task: StartTask;
  readonly #door: Door;
  #start: Start;

  constructor(parts: { place: Place; proxy: AppProxy; door: Door; plan: AppPlan; task: StartTask; start: Start }) {
    this.place = parts.place;
    this.proxy = parts.proxy;
    this.#door = parts.door;
    this.#plan = parts.plan;
    this.#task = parts.task;
    this.#start = parts.start;
  }

  get url(): string {
    return `http://localhost:${this.port}/`;
  }

  get port(): number {
    return this.#start.ready.port;
  }

  get startMs(): number {
    return this.#start.ready.startMs;
  }

  get httpStatus(): number {
    return this.#start.ready.httpStatus;
  }

  get restarts(): number {
    return this.#start.ready.restarts;
  }

  get command(): string {
    return this.#task.command;
  }

  get ended(): Promise<ProcessEnd> {
    return this.#start.process.ended;
  }

  log(): CappedOutput {
    return this.#start.process.log();
  }

  lostConnections(): number {
    return this.#door.lost.get(this.port) ?? 0;
  }

  async isAlive(): Promise<boolean> {
    const end = this.#start.end();
    if (end !== undefined && end.exitCode !== 0) return false;
    return (await this.place.listeners()).some(({ port }) => port === this.port);
  }

  async restart(): Promise<AppDown | null> {
    await this.place.endProcesses(STOP_GRACE_MS);
    const start = await startOnce(this.place, this.#plan, this.#task);
    if ("status" in start) return start;
    this.#start = start;
    this.#door.lost.clear();
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    try {
      await this.place.endProcesses(STOP_GRACE_MS);
    } finally {
      await this.place[Symbol.asyncDispose]();
    }
  }
}

/**
 * Starts a copy of a prepared app and waits until it answers. Every way in which that fails is the app's (`AppDown`);
 * throws `EvowebError` for the sandbox's own faults, and what `signal` was aborted with.
 */
export async function startApp(prepared: PreparedApp, options: StartOptions): Promise<RunningApp | AppDown> {
  const { plan, base } = prepared;
  const { sandbox, label, limits } = options;
  const place = await sandbox.open({ label: `${label}-app`, limits, below: [base], egress: { allow: [] } });
  let isKept = false;
  try {
    const { argv, command } =
      plan.start.kind === "script"
        ? { argv: plan.start.argv, command: plan.start.argv.join(" ") }
        : { argv: STATIC_SERVER, command: "static files" };
    const task = { argv, command, suggestedPort: await place.suggestPort(), options };
    const start = await startOnce(place, plan, task);
    if ("status" in start) return start;
    const door = new Door(place);
    const proxy = await openAppProxy(door);
    isKept = true;
    return new App({ place, proxy, door, plan, task, start });
  } finally {
    if (!isKept) await place[Symbol.asyncDispose]();
  }
}
