import { setTimeout as delay } from "node:timers/promises";
import { appDown, endFacts, type AppDown } from "./app-down.ts";
import { gradeOf, printedPorts, probeHttp, type Probe } from "./http-probe.ts";
import type { Listener, Place, ProcessEnd, StartedProcess } from "./sandbox.ts";

const POLL_MS = 40;
const SLOW_POLL_MS = 200;
const SLOW_AFTER_MS = 3000;
/** A single probe may take this many times longer each time it met silence, so that a slow first page is met in the end. */
const PATIENCE = 2;
const MAX_PROBED_PORTS = 8;
/** After the accepted answer the port has to stay for this long: some apps die of their first request. */
const CONFIRM_MS = 120;
/** Or for this part of the start, because on a busy machine dying takes longer, too; at most 1 s. */
const CONFIRM_SHARE = 0.1;
const CONFIRM_LIMIT_MS = 1000;
const CONFIRM_POLL_MS = 20;
/** How often a port that had answered may vanish before the app counts as crashing in a loop. */
const MAX_VANISHED = 3;
/** A start command that ends with code 0 may have left a server behind; it has this long to listen. */
const DAEMON_MS = 1000;

/** How long an answer other than a page has to stay the same before it is taken for the app's final word. */
export interface SettleTimes {
  /** For a status below 300 that is no HTML. */
  readonly plainMs: number;
  /** For 4xx. */
  readonly errorMs: number;
}

/** What is waited for. */
export interface ReadinessTask {
  readonly place: Pick<Place, "connect" | "listeners">;
  readonly process: StartedProcess;
  /** The port the app was asked to use. */
  readonly suggestedPort: number;
  /** When the process was started, on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly startTimeoutMs: number;
  readonly probeTimeoutMs: number;
  readonly settle: SettleTimes;
  readonly signal: AbortSignal;
}

/** An app that answers. */
export interface Ready {
  readonly status: "ready";
  readonly port: number;
  /** HTTP status of `/`. */
  readonly httpStatus: number;
  /** From the start of the process to the accepted answer. */
  readonly startMs: number;
  /** How often a port that had answered vanished before that. */
  readonly restarts: number;
}

interface Seen {
  readonly probe: Probe;
  /** Since when this port gives this answer. */
  readonly since: number;
}

const answerOf = (probe: Probe): string => (probe.kind === "answer" ? `${probe.status}` : probe.kind);

class Watch {
  readonly #task: ReadinessTask;
  readonly #seen = new Map<number, Seen>();
  readonly #asking = new Map<number, Promise<void>>();
  readonly #patience = new Map<number, number>();
  #listeners: readonly Listener[] = [];
  #restarts = 0;
  #end: { readonly end: ProcessEnd; readonly at: number } | undefined;
  #hasListened = false;

  constructor(task: ReadinessTask) {
    this.#task = task;
    void task.process.ended.then((end) => {
      this.#end = { end, at: performance.now() };
      return undefined;
    });
  }

  #elapsedMs(): number {
    return performance.now() - this.#task.startedAt;
  }

  async #look(): Promise<void> {
    this.#listeners = await this.#task.place.listeners();
    if (this.#listeners.length > 0) this.#hasListened = true;
    const open = new Set(this.#listeners.map(({ port }) => port));
    for (const [port, { probe }] of this.#seen) {
      if (open.has(port)) continue;
      this.#seen.delete(port);
      if (probe.kind === "answer") this.#restarts += 1;
    }
  }

  /** Ports to ask: the one suggested, those printed, the rest. */
  #ports(): readonly number[] {
    const open = [...new Set(this.#listeners.map(({ port }) => port))];
    const printed = open.length > 1 ? printedPorts(this.#task.process.log().text) : [];
    const rank = (port: number): number => {
      if (port === this.#task.suggestedPort) return -1;
      const index = printed.indexOf(port);
      return index === -1 ? printed.length : index;
    };
    return open.toSorted((a, b) => rank(a) - rank(b) || a - b).slice(0, MAX_PROBED_PORTS);
  }

  async #probe(port: number): Promise<void> {
    const left = this.#task.startTimeoutMs - this.#elapsedMs();
    const patience = this.#patience.get(port) ?? 1;
    const wholeMs = this.#task.probeTimeoutMs * patience;
    const probe = await probeHttp(this.#task.place, port, Math.max(1, Math.min(left, wholeMs)));
    const before = this.#seen.get(port);
    // The limit of the start cut this probe short: its silence says less than what the port said before.
    if (probe.kind === "silent" && left < wholeMs && before !== undefined) return;
    if (probe.kind === "silent") this.#patience.set(port, patience * PATIENCE);
    const isSame = before !== undefined && answerOf(before.probe) === answerOf(probe);
    this.#seen.set(port, { probe, since: isSame ? before.since : performance.now() });
  }

  /** The port to take now, or undefined to go on waiting. */
  #choose(ports: readonly number[]): number | undefined {
    const seen = ports.map((port) => ({ port, entry: this.#seen.get(port) }));
    const grade = (entry: Seen | undefined): string => (entry === undefined ? "wait" : gradeOf(entry.probe));
    const page = seen.findIndex(({ entry }) => grade(entry) === "page");
    // A page beats a better port with another answer, but not one that is still getting ready.
    if (page !== -1 && seen.slice(0, page).every(({ entry }) => grade(entry) !== "wait")) return seen[page]?.port;
    const isSettled = (entry: Seen | undefined): boolean =>
      entry !== undefined && grade(entry) !== "wait" && performance.now() - entry.since >= this.#settleMs(entry.probe);
    if (page !== -1) return isSettled(seen[page]?.entry) ? seen[page]?.port : undefined;
    return seen.find(({ entry }) => isSettled(entry))?.port;
  }

  #settleMs(probe: Probe): number {
    const { plainMs, errorMs } = this.#task.settle;
    return probe.kind === "answer" && probe.status < 300 ? plainMs : errorMs;
  }

  /** Whether the port stays open and the process alive for a moment after its answer. */
  async #isStable({ port, startMs }: Ready): Promise<boolean> {
    const confirmMs = Math.min(CONFIRM_LIMIT_MS, Math.max(CONFIRM_MS, startMs * CONFIRM_SHARE));
    const until = performance.now() + confirmMs;
    while (performance.now() < until) {
      await this.#pause(CONFIRM_POLL_MS);
      await this.#look();
      if (this.#isOver() !== undefined || !this.#seen.has(port)) return false;
    }
    return true;
  }

  #facts(reason: string): Readonly<Record<string, unknown>> {
    return {
      reason,
      elapsedMs: Math.round(this.#elapsedMs()),
      limitMs: this.#task.startTimeoutMs,
      suggestedPort: this.#task.suggestedPort,
      listening: this.#listeners.map(({ address, port }) => `${address} port ${port}`),
      probes: Object.fromEntries([...this.#seen].map(([port, { probe }]) => [port, probe])),
      restarts: this.#restarts,
      ...(this.#end === undefined ? {} : endFacts(this.#end.end)),
    };
  }

  #down(kind: AppDown["class"], reason: string): AppDown {
    return appDown(kind, this.#facts(reason), this.#task.process.log().text);
  }

  /** A failure that no more waiting can mend. */
  #isOver(): AppDown | undefined {
    if (this.#restarts >= MAX_VANISHED) {
      return this.#down("start_crash", `The server answered and went away ${this.#restarts} times (restart loop).`);
    }
    if (this.#end === undefined) return undefined;
    const { end, at } = this.#end;
    if (end.how === "out_of_memory") return this.#down("out_of_memory", "The app was ended for its memory.");
    const isServing = this.#listeners.length > 0 || (!this.#hasListened && performance.now() - at < DAEMON_MS);
    if (end.exitCode === 0 && isServing) return undefined;
    if (end.exitCode !== 0 || this.#hasListened) return this.#down("start_crash", "The start command ended.");
    return this.#down("no_listen", "Did not start: the start command ended with code 0 and left no server behind.");
  }

  #atLimit(): AppDown | Ready {
    if (this.#restarts > 0) {
      return this.#down("start_crash", `The server answered and went away ${this.#restarts} times until the limit.`);
    }
    const answers = [...this.#seen].flatMap(([port, { probe }]) => (probe.kind === "answer" ? [{ port, probe }] : []));
    const usable = answers.find(({ probe }) => gradeOf(probe) !== "wait");
    if (usable !== undefined) return this.#ready(usable.port, usable.probe.status);
    const failing = answers[0];
    if (failing !== undefined) {
      return this.#down("http_error", `Started, but answered ${failing.probe.status} until the limit.`);
    }
    if (this.#listeners.length > 0)
      return this.#down("no_answer", "A server listens but did not answer until the limit.");
    return this.#down("no_listen", "Nothing listened until the limit.");
  }

  #ready(port: number, httpStatus: number): Ready {
    return { status: "ready", port, httpStatus, startMs: Math.round(this.#elapsedMs()), restarts: this.#restarts };
  }

  async run(): Promise<Ready | AppDown> {
    for (;;) {
      this.#task.signal.throwIfAborted();
      await this.#look();
      const over = this.#isOver();
      if (over !== undefined) return over;
      if (this.#elapsedMs() >= this.#task.startTimeoutMs) return this.#atLimit();
      const ready = await this.#askAll();
      if (ready !== undefined && (await this.#isStable(ready))) return ready;
    }
  }

  /** Asks every port; an answer that can be taken, or nothing after a pause. */
  async #askAll(): Promise<Ready | undefined> {
    const ports = this.#ports();
    const pollMs = this.#seen.size === 0 && this.#elapsedMs() < SLOW_AFTER_MS ? POLL_MS : SLOW_POLL_MS;
    for (const port of ports) this.#ask(port);
    // One silent port must not hold up the others.
    await Promise.race([Promise.all(this.#asking.values()), this.#pause(POLL_MS)]);
    const chosen = this.#choose(ports);
    const answer = chosen === undefined ? undefined : this.#seen.get(chosen)?.probe;
    if (chosen !== undefined && answer?.kind === "answer") return this.#ready(chosen, answer.status);
    await this.#pause(pollMs);
    return undefined;
  }

  #ask(port: number): void {
    if (this.#asking.has(port)) return;
    this.#asking.set(
      port,
      this.#probe(port).finally(() => this.#asking.delete(port)),
    );
  }

  /** Waits, but no longer than the process lives. */
  async #pause(pauseMs: number): Promise<void> {
    await Promise.race([delay(pauseMs), ...(this.#end === undefined ? [this.#task.process.ended] : [])]);
  }
}

/** Waits until the app answers on a port of its own, or tells why it does not. Throws only what `signal` was aborted with. */
export async function waitUntilReady(task: ReadinessTask): Promise<Ready | AppDown> {
  return new Watch(task).run();
}
