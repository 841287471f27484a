import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessInfo } from "./processes.ts";
import type { Listener } from "./sandbox.ts";

const LISTENING = "0A";

/** A listening socket and the open file that proves whose it is. */
export interface OwnedListener extends Listener {
  /** Path in /proc of the open file; it reads `link` as long as the socket is this process's. */
  readonly proof: string;
  readonly link: string;
}

/** An address of /proc/net/tcp or tcp6: 32-bit words in the host's byte order (little-endian on all that Node runs on). */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex")].toReversed());
  if (bytes.length === 4) return bytes.join(".");
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  if (isMapped) return bytes.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    Buffer.from(bytes)
      .readUInt16BE(index * 2)
      .toString(16),
  );
  // The URL parser knows how to shorten an IPv6 address.
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

/** Listening sockets of a table in the format of /proc/net/tcp, by inode. */
function parseListening(table: string): Map<string, Listener> {
  const found = new Map<string, Listener>();
  for (const line of table.split("\n").slice(1)) {
    const fields = line.trim().split(/\s+/);
    const [address = "", port = ""] = (fields[1] ?? "").split(":");
    const inode = fields[9];
    if (fields[3] !== LISTENING || inode === undefined) continue;
    found.set(inode, { port: Number.parseInt(port, 16), address: addressOf(address) });
  }
  return found;
}

function readTable(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // No IPv6 on this host.
    return "";
  }
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return [];
  }
}

/** What an open file of a process leads to; empty when it is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Whether the socket is still open in the process where it was found. */
export const isStillOwned = (listener: OwnedListener): boolean => linkOf(listener.proof) === listener.link;

/** TCP sockets that these processes listen on, each address and port once. */
export function listenersOf(processes: readonly ProcessInfo[]): OwnedListener[] {
  if (processes.length === 0) return [];
  const listening = new Map(["tcp", "tcp6"].flatMap((name) => [...parseListening(readTable(`/proc/net/${name}`))]));
  const found = new Map<string, OwnedListener>();
  for (const proof of processes.flatMap(({ pid }) => openFiles(pid))) {
    const link = linkOf(proof);
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    const listener = inode === undefined ? undefined : listening.get(inode);
    if (listener !== undefined) found.set(`${listener.address} ${listener.port}`, { ...listener, proof, link });
  }
  return [...found.values()].sort((a, b) => a.port - b.port);
}
