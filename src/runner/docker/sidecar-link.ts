import { chmod } from "node:fs/promises";
import net from "node:net";
import type { Duplex } from "node:stream";
import { z } from "zod";
import { EvowebError } from "../../errors.ts";
import type { Listener } from "../sandbox.ts";

const ANSWER_TIMEOUT_MS = 15_000;
const MAX_HEAD_BYTES = 16;

const Message = z.union([
  z.object({ event: z.enum(["ready", "guard", "guard_gone"]) }),
  z.object({ id: z.int(), value: z.unknown() }),
]);
const Listeners = z.array(z.object({ port: z.int(), address: z.string() }));

/** The harness's end of the connection that a place's relay holds; while it is open, the place lives. */
export class SidecarLink implements AsyncDisposable {
  readonly #server: net.Server;
  readonly #waiting = new Map<number | string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #socket: net.Socket | undefined;
  #nextId = 1;
  #fault: EvowebError | undefined;
  readonly #label: string;

  private constructor(label: string, server: net.Server) {
    this.#label = label;
    this.#server = server;
    server.on("connection", (socket) => this.#accept(socket));
  }

  /** Listens on a socket that the relay will connect to. */
  static async listen(path: string, label: string): Promise<SidecarLink> {
    const server = net.createServer();
    await listenOn(server, path);
    return new SidecarLink(label, server);
  }

  #accept(socket: net.Socket): void {
    // The relay comes first and only once; the folder is closed to other users, so nobody else should come at all.
    if (this.#socket !== undefined) return void socket.destroy();
    this.#socket = socket;
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(Message.parse(JSON.parse(line)));
    });
    socket.on("error", () => {});
    socket.on("close", () => this.#fail("its relay has ended"));
  }

  #hear(message: z.infer<typeof Message>): void {
    if ("event" in message && message.event === "guard_gone") {
      this.#fail("the main process of its container has ended");
      return;
    }
    const key = "event" in message ? message.event : message.id;
    this.#waiting.get(key)?.resolve("event" in message ? undefined : message.value);
    this.#waiting.delete(key);
  }

  #fail(why: string): void {
    this.#fault ??= new EvowebError("sandbox", `Place ${this.#label} is lost: ${why}.`);
    for (const { reject } of this.#waiting.values()) reject(this.#fault);
    this.#waiting.clear();
  }

  /** Waits for something the relay reports once. Throws `EvowebError("docker")` when it does not come. */
  async reported(event: "ready" | "guard", signal: AbortSignal): Promise<void> {
    await this.#wait(event, signal);
  }

  #wait(key: number | string, signal: AbortSignal): Promise<unknown> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(key);
        reject(new EvowebError("docker", `Place ${this.#label}: its relay did not answer (${String(key)}).`));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener("abort", onAbort);
          then(value);
        };
      this.#waiting.set(key, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  async #ask(op: string): Promise<unknown> {
    if (this.#fault !== undefined) throw this.#fault;
    const id = this.#nextId++;
    const answer = this.#wait(id, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    this.#socket?.write(`${JSON.stringify({ id, op })}\n`);
    return answer;
  }

  /** The ports that the place's user listens on. */
  async listeners(): Promise<readonly Listener[]> {
    return Listeners.parse(await this.#ask("listeners"));
  }

  /** How many processes of the place the kernel has killed for want of memory. */
  async oomKills(): Promise<number> {
    return z.coerce.number().parse(await this.#ask("oom"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail("it was closed");
    this.#socket?.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

// Linux keeps socket paths in 108 bytes; Node 20 cuts longer ones without a word.
const MAX_SOCKET_PATH_BYTES = 107;

/** Throws `EvowebError("sandbox")` for a path that the kernel would not take whole. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return;
  throw new EvowebError(
    "sandbox",
    `Socket path ${path} has ${bytes} bytes, the system allows ${MAX_SOCKET_PATH_BYTES}. Set TMPDIR to a shorter folder.`,
  );
}

/** Listens on a unix socket that also another user, such as the relay's, may connect to. */
export async function listenOn(server: net.Server, path: string): Promise<void> {
  checkSocketPath(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  await chmod(path, 0o666);
}

/** A connection through a relay to a port of its place; refused as a real connection would be. */
export function connectThrough(path: string, port: number): Promise<Duplex> {
  checkSocketPath(path);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path, allowHalfOpen: true });
    const refuse = (why: string): void => {
      socket.destroy();
      reject(Object.assign(new Error(`connect ECONNREFUSED port ${port}${why}`), { code: "ECONNREFUSED", port }));
    };
    let head = Buffer.alloc(0);
    const onEnd = (): void => refuse("");
    // Reading on "readable" leaves the stream in its initial mode, so that the caller may use it in any way.
    const onReadable = (): void => {
      head = Buffer.concat([head, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
      const end = head.indexOf("\n");
      if (end < 0 && head.length <= MAX_HEAD_BYTES) return;
      if (head.subarray(0, end).toString() !== "ok") return refuse("");
      socket.off("readable", onReadable).off("end", onEnd);
      if (head.length > end + 1) socket.unshift(head.subarray(end + 1));
      resolve(socket);
    };
    // Stays for good: a connection may break before its new owner has listened for that.
    socket.on("error", (error) => refuse(`: ${error.message}`));
    socket.on("readable", onReadable).on("end", onEnd);
    socket.write(`${port}\n`);
  });
}
