import type { Server } from "node:http";
import type { Duplex, Readable } from "node:stream";

/** A command to run in a place. No shell is involved unless argv names one. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  /** Folder relative to the place's root; default: the root. */
  readonly cwd?: string;
  /** Added to the place's own small, fixed environment; the host's environment never gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes given on standard input, which is then closed; absent: an empty input. */
  readonly stdin?: string | Uint8Array;
  /** After this many milliseconds the whole process group is ended. */
  readonly timeoutMs: number;
  /** Bytes kept of each of stdout and stderr, half head and half tail; default 1 MiB. The rest is read and counted. */
  readonly maxOutputBytes?: number;
  /** Aborting ends the whole process group. */
  readonly signal?: AbortSignal;
}

/** Output with a bound: the head and the tail are kept, the size of all of it is said. */
export interface CappedOutput {
  /**
   * What was kept, made harmless by `harmlessText` (no terminal sequences, control characters or invalid UTF-8);
   * a line says how many bytes were left out between head and tail.
   */
  readonly text: string;
  readonly totalBytes: number;
  readonly droppedBytes: number;
}

/** How a process ended; exactly one of exitCode and signal is set, both null when it was never started to the end. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** `out_of_memory` is told from the kernel's counter, never from an exit code of 137 alone. */
  readonly how: "exited" | "timed_out" | "aborted" | "out_of_memory";
  /** For people, where there is more to say: "killed: out of memory, limit 256 MB (npm start)". */
  readonly detail?: string;
}

/** A finished command. A non-zero exit is a result, not an error. */
export interface CommandResult extends ProcessEnd {
  readonly stdout: CappedOutput;
  readonly stderr: CappedOutput;
  readonly durationMs: number;
}

/** A process started with `start` that goes on by itself: an app server. Its output is drained all the time. */
export interface StartedProcess {
  /** Resolves once the process itself has ended; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** What stdout and stderr together have said so far, bounded as in `CappedOutput`. */
  log(): CappedOutput;
}

/** A TCP port that a process of this place listens on. */
export interface Listener {
  readonly port: number;
  /** "127.0.0.1", "::1", "0.0.0.0", "::" or another address of the place. */
  readonly address: string;
}

/** Bounds of one place; a limit that the platform cannot set is reported by `Sandbox.describe`. */
export interface PlaceLimits {
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
}

/** What a place may reach outside: nothing, or the hosts of an allow-list ("host:port") through the harness's proxy. */
export type Egress = { readonly allow: readonly string[] };

/** One refused or allowed outgoing connection, as the proxy saw it. */
export interface EgressRecord {
  readonly time: string;
  readonly target: string;
  readonly allowed: boolean;
  readonly bytes: number;
  readonly durationMs: number;
}

/** How a place is made. */
export interface PlaceOptions {
  /** Short name for labels and messages, such as "app-0001-agent". */
  readonly label: string;
  readonly limits: PlaceLimits;
  /** Places whose trees lie under this one, highest priority first; writes here never reach them. They must outlive this place
   * and nobody writes to them meanwhile. Default: an empty tree. */
  readonly below?: readonly Place[];
  readonly egress?: Egress;
  /** A server of the harness that this place alone reaches, at `Place.gatewayUrl`; it listens as long as the place is open. */
  readonly gateway?: Server;
  /** Image of this place where the sandbox has images; default: the sandbox's own. */
  readonly image?: string;
}

/**
 * One tree of files with processes of its own: the agent's workspace, or a copy that an app is served from.
 * Nothing in it is trusted. Disposing ends every process and removes the tree.
 */
export interface Place extends AsyncDisposable {
  readonly label: string;
  /** Absolute path of the tree as commands in this place see it. */
  readonly root: string;
  /** Absolute path of a folder outside the tree, for what an agent keeps between requests: HOME, settings, sessions. */
  readonly stateRoot: string;
  /** Address at which commands in this place reach `PlaceOptions.gateway`, without a path; null when there is none. */
  readonly gatewayUrl: string | null;
  /**
   * Runs a command until the command itself ends; background children go on, also when they hold its output.
   * A program that cannot be started is a result with exit code 126 or 127. Throws `EvowebError("sandbox" | "image")` only when the place itself is at fault.
   */
  exec(command: Command): Promise<CommandResult>;
  /** Starts a command and returns at once; `timeoutMs` and `stdin` do not apply. It ends with `endProcesses` or disposal. */
  start(command: Omit<Command, "timeoutMs" | "stdin">): Promise<StartedProcess>;
  /** Ends every process of this place, first politely (SIGTERM, `graceMs`), then SIGKILL; returns the command lines met. */
  endProcesses(graceMs: number): Promise<readonly string[]>;
  /** The tree as a tar stream, folders of these names left out at every depth. Symlinks are stored, never followed. */
  readTree(excludeNames: readonly string[]): Promise<Readable>;
  /** Unpacks a tar stream over the tree; files become the property of the place's user. */
  writeTree(tar: Readable): Promise<void>;
  /** The folder at `stateRoot` as a tar stream. */
  readState(): Promise<Readable>;
  /** Replaces the folder at `stateRoot` by what a tar stream holds; null empties it. */
  replaceState(tar: Readable | null): Promise<void>;
  /** Removes everything in the tree but top-level and nested folders of these names. */
  clearTree(keepNames: readonly string[]): Promise<void>;
  /** Bytes that this place's own tree takes on the disk (what lies below does not count). */
  sizeBytes(): Promise<number>;
  /** Ports that processes of this place listen on, and nobody else's. */
  listeners(): Promise<readonly Listener[]>;
  /** A connection to a port of this place's own network, or an Error with code ECONNREFUSED. Never reaches anything else. */
  connect(port: number): Promise<Duplex>;
  /** Changes what this place may reach from now on. */
  setEgress(egress: Egress): Promise<void>;
  /** Outgoing connections so far. */
  egressLog(): readonly EgressRecord[];
  /** A port to suggest to an app through PORT; free at the moment of the call. */
  suggestPort(): Promise<number>;
}

/** What protects the host from what runs in a sandbox, for run.json and `evoweb doctor`. */
export interface SandboxDescription {
  readonly kind: "docker" | "local";
  /** Engine version and image digest where there are any. */
  readonly engine?: string;
  readonly image?: string;
  /** Protections in force and limits that cannot be set, as sentences. */
  readonly notes: readonly string[];
}

/** Makes places. Disposing removes everything it made, also places that were left open. */
export interface Sandbox extends AsyncDisposable {
  readonly kind: "docker" | "local";
  describe(): Promise<SandboxDescription>;
  open(options: PlaceOptions): Promise<Place>;
}
