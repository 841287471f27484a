import { randomInt } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import { EvowebError } from "../../errors.ts";
import { DEFAULT_OUTPUT_BYTES, outputBuffer } from "../output-buffer.ts";
import type {
  CappedOutput,
  Command,
  CommandResult,
  Egress,
  EgressRecord,
  Listener,
  Place,
  PlaceOptions,
  StartedProcess,
} from "../sandbox.ts";
import { APP_HOME, APP_UID, WORKSPACE } from "./image-recipe.ts";
import type { PlaceParts } from "./open-place.ts";
import { END_ALL, END_MARKED, GATEWAY_PORT } from "./programs.ts";
import { runCommand, watchCommand } from "./run-command.ts";
import type { CommandHost } from "./run-command.ts";
import { connectThrough } from "./sidecar-link.ts";
import { clearTree, readTree, runTool, treeBytes, writeTree } from "./tree.ts";

const USER = `${APP_UID}:${APP_UID}`;
const STEP_MS = 50;
const KILL_TRIES = 3;
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** A place made of two containers: the relay's, and the one that agents and apps run in. */
export class DockerPlace implements Place {
  readonly label: string;
  readonly root = WORKSPACE;
  readonly stateRoot = `${APP_HOME}/agent`;
  readonly gatewayUrl: string | null;
  readonly #parts: PlaceParts;
  readonly #host: CommandHost;
  readonly #onClose: (place: DockerPlace) => void;

  constructor(parts: PlaceParts, options: PlaceOptions, onClose: (place: DockerPlace) => void) {
    this.label = options.label;
    this.gatewayUrl = options.gateway === undefined ? null : `http://127.0.0.1:${GATEWAY_PORT}`;
    this.#parts = parts;
    this.#onClose = onClose;
    this.#host = {
      container: parts.app,
      user: USER,
      root: this.root,
      memoryBytes: options.limits.memoryBytes,
      oomKills: () => parts.link.oomKills(),
      endMarked: async (marker) => void (await this.#kill(END_MARKED, marker)),
      endAll: async () => void (await this.#kill(END_ALL, "0")),
      running: new Set(),
    };
  }

  /** Folders on the engine's machine that hold the tree, highest first. */
  get layers(): readonly string[] {
    return this.#parts.layers;
  }

  exec(command: Command): Promise<CommandResult> {
    return runCommand(this.#host, command);
  }

  async start(command: Omit<Command, "timeoutMs" | "stdin">): Promise<StartedProcess> {
    const output = outputBuffer(command.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES);
    const watched = await watchCommand(this.#host, command, (_, piece) => output.push(piece));
    const abort = (): void => watched.stop("aborted");
    command.signal?.addEventListener("abort", abort, { once: true });
    if (command.signal?.aborted === true) abort();
    const ended = watched.end
      // The place or the engine went away under the process: nobody can say how it ended.
      .catch((error: unknown) => ({
        exitCode: null,
        signal: null,
        how: "exited" as const,
        detail: error instanceof Error ? error.message : String(error),
      }))
      .finally(() => command.signal?.removeEventListener("abort", abort));
    return { ended, log: (): CappedOutput => output.result() };
  }

  async endProcesses(graceMs: number): Promise<readonly string[]> {
    const met = await this.#kill(END_ALL, String(Math.ceil(graceMs / STEP_MS)));
    return met.split("\0").filter((line) => line !== "");
  }

  /** Runs one of the ending scripts as the place's user; what is to be ended may shoot back, so more than once. */
  async #kill(script: string, argument: string): Promise<string> {
    const argv = ["/usr/bin/env", "-i", "/bin/bash", "-c", script, "end", argument];
    for (let attempt = 1; ; attempt++) {
      try {
        return await runTool(this.#parts.app, { argv, user: USER, workingDir: "/", hasStdin: true });
      } catch (error) {
        if (attempt === KILL_TRIES || (error instanceof EvowebError && error.code !== "sandbox")) throw error;
      }
    }
  }

  readTree(excludeNames: readonly string[]): Promise<Readable> {
    return readTree(this.#parts.app, USER, { root: this.root, exclude: excludeNames });
  }

  writeTree(tar: Readable): Promise<void> {
    return writeTree(this.#parts.app, USER, { root: this.root, tar });
  }

  clearTree(keepNames: readonly string[]): Promise<void> {
    return clearTree(this.#parts.app, USER, { root: this.root, keep: keepNames });
  }

  async readState(): Promise<Readable> {
    await this.#makeStateFolder();
    return readTree(this.#parts.app, USER, { root: this.stateRoot, exclude: [] });
  }

  async replaceState(tar: Readable | null): Promise<void> {
    await this.#makeStateFolder();
    await clearTree(this.#parts.app, USER, { root: this.stateRoot, keep: [] });
    if (tar !== null) await writeTree(this.#parts.app, USER, { root: this.stateRoot, tar });
  }

  async #makeStateFolder(): Promise<void> {
    const argv = ["/usr/bin/env", "-i", "/usr/bin/mkdir", "-p", "--", this.stateRoot];
    await runTool(this.#parts.app, { argv, user: USER, workingDir: "/" });
  }

  sizeBytes(): Promise<number> {
    return treeBytes(this.#parts.sidecar, USER, this.#parts.ownFolder);
  }

  listeners(): Promise<readonly Listener[]> {
    return this.#parts.link.listeners();
  }

  connect(port: number): Promise<Duplex> {
    return connectThrough(this.#parts.connectSocket, port);
  }

  async setEgress(egress: Egress): Promise<void> {
    this.#parts.proxy.set(egress);
  }

  egressLog(): readonly EgressRecord[] {
    return this.#parts.proxy.log();
  }

  async suggestPort(): Promise<number> {
    const taken = new Set((await this.listeners()).map((listener) => listener.port));
    for (;;) {
      const port = randomInt(FIRST_PORT, LAST_PORT);
      if (!taken.has(port)) return port;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onClose(this);
    await this.#parts[Symbol.asyncDispose]();
  }
}
