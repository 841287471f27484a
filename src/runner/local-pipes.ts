import { execFile } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Standard streams of a child: descriptors for it, and what we read on the other side. */
export interface ChildStreams {
  /** For `spawn`: stdin, stdout, stderr. */
  readonly stdio: readonly [number | "ignore", number, number];
  /** Our ends of stdout and stderr. */
  readonly readers: readonly [Socket, Socket];
  /** Closes the child's ends in this process; to be called once the child has them. */
  handOver(): void;
}

/**
 * Real pipes for a child. Node's own are sockets, and a program that opens /dev/stderr or /dev/stdin by name
 * (`echo ... > /dev/stderr`) fails on a socket. `name` is new in `folder`; nothing stays there.
 */
export async function openStreams(folder: string, name: string, stdin?: string | Uint8Array): Promise<ChildStreams> {
  const paths = [join(folder, `${name}.out`), join(folder, `${name}.err`)] as const;
  await execute("mkfifo", ["-m", "600", "--", ...paths], { env: { PATH: "/usr/bin:/bin" } });
  const open = (path: string): { reader: Socket; writer: number } => {
    // Non-blocking, or opening would wait for a writer; then the writer finds a reader and need not wait either.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    return { reader: new Socket({ fd, readable: true, writable: false }), writer };
  };
  const [out, err] = [open(paths[0]), open(paths[1])];
  const input = stdin === undefined ? "ignore" : openInput(join(folder, `${name}.in`), stdin);
  return {
    stdio: [input, out.writer, err.writer],
    readers: [out.reader, err.reader],
    handOver() {
      closeSync(out.writer);
      closeSync(err.writer);
      if (input !== "ignore") closeSync(input);
    },
  };
}

function openInput(path: string, bytes: string | Uint8Array): number {
  writeFileSync(path, bytes, { mode: 0o600 });
  const fd = openSync(path, "r");
  unlinkSync(path);
  return fd;
}
