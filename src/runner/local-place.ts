import type { Server } from "node:http";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { relative, resolve } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { EvowebError } from "../errors.ts";
import { launchCommand, type Launch, type Launched } from "./local-command.ts";
import { clearTree, packTree, removeTree, treeBytes, unpackTree } from "./local-tree.ts";
import { DEFAULT_OUTPUT_BYTES, outputBuffer } from "./output-buffer.ts";
import { PLACE_VARIABLE } from "./local-leftovers.ts";
import { endProcesses, findProcesses, ownStartTicks, type Belonging, type ProcessInfo } from "./processes.ts";
import { stopListening } from "./stop-listening.ts";
import { isStillOwned, listenersOf, type OwnedListener } from "./proc-net.ts";
import type { Command, CommandResult, EgressRecord, Listener, Place, ProcessEnd, StartedProcess } from "./sandbox.ts";

const COMMAND_VARIABLE = "EVOWEB_COMMAND";
const LOOPBACK_OF: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** What the sandbox has made ready for a place. */
export interface LocalPlaceSetup {
  readonly label: string;
  /** Holds the tree, HOME and TMPDIR; removed with the place. */
  readonly folder: string;
  readonly root: string;
  /** Exists. */
  readonly stateRoot: string;
  /** Listens already. */
  readonly gateway: Server | null;
  /** Value of the marker variable. */
  readonly id: string;
  /** The whole environment of a command, before its own additions. */
  readonly env: Readonly<Record<string, string>>;
  /** Trees that were copied in at the start. */
  readonly below: readonly string[];
  readonly onDispose: (place: LocalPlace) => void;
}

type BareCommand = Omit<Command, "timeoutMs" | "stdin">;

function refused(port: number): Error {
  return Object.assign(new Error(`connect ECONNREFUSED: no process of this place listens on port ${port}`), {
    code: "ECONNREFUSED",
    port,
  });
}

/** A folder and the processes started for it. */
export class LocalPlace implements Place {
  readonly label: string;
  readonly root: string;
  readonly stateRoot: string;
  readonly gatewayUrl: string | null;
  readonly #setup: LocalPlaceSetup;
  readonly #belonging: Belonging;
  readonly #launched = new Set<Launched>();
  readonly #known = new Map<number, OwnedListener>();
  #commands = 0;
  #isClosed = false;

  constructor(setup: LocalPlaceSetup) {
    this.label = setup.label;
    this.root = setup.root;
    this.stateRoot = setup.stateRoot;
    const address = setup.gateway?.address() ?? null;
    this.gatewayUrl = address === null || typeof address === "string" ? null : `http://127.0.0.1:${address.port}`;
    this.#setup = setup;
    this.#belonging = {
      marker: `${PLACE_VARIABLE}=${setup.id}\0`,
      folder: setup.folder,
      sessions: new Set(),
      sinceTicks: ownStartTicks(),
    };
  }

  async exec(command: Command): Promise<CommandResult> {
    const startedAt = performance.now();
    const maxBytes = command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
    const stdout = outputBuffer(maxBytes);
    const stderr = outputBuffer(maxBytes);
    const { timeoutMs, stdin } = command;
    const launched = await this.#launch(command, {
      stdout,
      stderr,
      timeoutMs,
      ...(stdin === undefined ? {} : { stdin }),
    });
    const end = await launched.ended;
    const durationMs = Math.round(performance.now() - startedAt);
    return { ...end, stdout: stdout.result(), stderr: stderr.result(), durationMs };
  }

  async start(command: BareCommand): Promise<StartedProcess> {
    const output = outputBuffer(command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES);
    const { ended } = await this.#launch(command, { stdout: output, stderr: output });
    const lost: ProcessEnd = { exitCode: null, signal: null, how: "exited" };
    return { ended: ended.catch(() => lost), log: () => output.result() };
  }

  async #launch(
    command: BareCommand,
    more: Pick<Launch, "stdout" | "stderr" | "timeoutMs" | "stdin">,
  ): Promise<Launched> {
    this.#mustBeOpen();
    const cwd = resolve(this.root, command.cwd ?? ".");
    if (relative(this.root, cwd).startsWith("..")) {
      throw new EvowebError("sandbox", `The folder ${command.cwd} lies outside of the place ${this.label}.`);
    }
    this.#commands += 1;
    const marker = `${this.#setup.id}.${this.#commands}`;
    const launched = await launchCommand({
      ...more,
      scratch: { folder: this.#setup.folder, name: `streams-${this.#commands}` },
      argv: command.argv,
      cwd,
      env: {
        ...this.#setup.env,
        PWD: cwd,
        ...command.env,
        [PLACE_VARIABLE]: this.#setup.id,
        [COMMAND_VARIABLE]: marker,
      },
      ...(command.signal === undefined ? {} : { signal: command.signal }),
      belonging: {
        marker: `${COMMAND_VARIABLE}=${marker}\0`,
        sessions: new Set(),
        sinceTicks: this.#belonging.sinceTicks,
      },
    });
    if (launched.session !== undefined) this.#belonging.sessions.add(launched.session);
    this.#launched.add(launched);
    if (this.#isClosed) {
      // Disposed while the streams were being made: its own look for processes came too early for this one.
      await this.endProcesses(0);
      launched.release();
    }
    this.#mustBeOpen();
    for (const earlier of this.#launched) if (!earlier.isOpen()) this.#launched.delete(earlier);
    return launched;
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new EvowebError("sandbox", `The place ${this.label} is closed.`);
  }

  #processes(): readonly ProcessInfo[] {
    return findProcesses(this.#belonging);
  }

  async endProcesses(graceMs: number): Promise<readonly string[]> {
    return endProcesses(() => this.#processes(), graceMs);
  }

  async readTree(excludeNames: readonly string[]): Promise<Readable> {
    return packTree(this.root, excludeNames);
  }

  async writeTree(tar: Readable): Promise<void> {
    await unpackTree(this.root, tar);
  }

  async clearTree(keepNames: readonly string[]): Promise<void> {
    await clearTree(this.root, keepNames);
  }

  async readState(): Promise<Readable> {
    return packTree(this.stateRoot, []);
  }

  async replaceState(tar: Readable | null): Promise<void> {
    await clearTree(this.stateRoot, []);
    if (tar !== null) await unpackTree(this.stateRoot, tar);
  }

  async sizeBytes(): Promise<number> {
    let bytes = await treeBytes(this.root);
    // They were copied, so they are in the sum, yet they are not this place's own.
    for (const below of this.#setup.below) bytes -= await treeBytes(below);
    return Math.max(0, bytes);
  }

  #listeners(): readonly OwnedListener[] {
    this.#known.clear();
    const found = listenersOf(this.#processes());
    for (const listener of found) this.#known.set(listener.port, listener);
    return found;
  }

  async listeners(): Promise<readonly Listener[]> {
    return this.#listeners().map(({ port, address }) => ({ port, address }));
  }

  async connect(port: number): Promise<Duplex> {
    const known = this.#known.get(port);
    // Looking through all processes takes milliseconds; one link tells whether the last answer still holds.
    if (known === undefined || !isStillOwned(known)) this.#listeners();
    const listener = this.#known.get(port);
    if (listener === undefined) throw refused(port);
    const host = LOOPBACK_OF[listener.address] ?? listener.address;
    const socket: Socket = connectTcp({ port, host, allowHalfOpen: true, noDelay: true });
    await once(socket, "connect");
    return socket;
  }

  async setEgress(): Promise<void> {
    // Nothing can hold plain processes back; `describe` says so.
  }

  egressLog(): readonly EgressRecord[] {
    return [];
  }

  async suggestPort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    server.close();
    await once(server, "close");
    if (address === null || typeof address === "string") throw new EvowebError("bug", "A TCP server has no port.");
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.endProcesses(0);
    for (const launched of this.#launched) launched.release();
    if (this.#setup.gateway !== null) await stopListening(this.#setup.gateway);
    await removeTree(this.#setup.folder);
    this.#setup.onDispose(this);
  }
}
