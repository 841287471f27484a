import { request as httpRequest, type IncomingMessage } from "node:http";
import { messageOf } from "../errors.ts";
import type { Place } from "./sandbox.ts";

/** What one request for `/` met. */
export type Probe =
  | { readonly kind: "answer"; readonly status: number; readonly contentType: string | undefined }
  /** Refused, reset, or no HTTP at all. */
  | { readonly kind: "broken"; readonly message: string }
  /** Connected, but no answer within the limit. */
  | { readonly kind: "silent"; readonly waitedMs: number };

const BODY_LIMIT_BYTES = 256 * 1024;
const BODY_LIMIT_MS = 500;
const MESSAGE_CHARS = 200;

/** Reads the body within bounds: some servers take it badly when a reader leaves in the middle. */
async function readBody(incoming: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => incoming.destroy(), BODY_LIMIT_MS);
  try {
    let bytes = 0;
    for await (const chunk of incoming) {
      bytes += (chunk as Buffer).length;
      if (bytes > BODY_LIMIT_BYTES) break;
    }
  } catch {
    // The status is what counts; a broken body is the judge's to see.
  } finally {
    clearTimeout(timer);
  }
}

/** Asks for `/` on a port of the place as a browser would that was given http://localhost:PORT/. Never throws. */
export async function probeHttp(place: Pick<Place, "connect">, port: number, timeoutMs: number): Promise<Probe> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const incoming = await askForRoot(place, port, controller.signal);
    await readBody(incoming);
    return { kind: "answer", status: incoming.statusCode ?? 0, contentType: incoming.headers["content-type"] };
  } catch (error) {
    if (controller.signal.aborted) return { kind: "silent", waitedMs: timeoutMs };
    return { kind: "broken", message: messageOf(error).slice(0, MESSAGE_CHARS) };
  } finally {
    clearTimeout(timer);
  }
}

async function askForRoot(place: Pick<Place, "connect">, port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const connecting = place.connect(port);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
  // Both may lose the race below; then nobody else looks at them.
  aborted.catch(() => undefined);
  const late = (): void => void connecting.then((socket) => socket.destroy()).catch(() => undefined);
  signal.addEventListener("abort", late, { once: true });
  const socket = await Promise.race([connecting, aborted]);
  return new Promise((resolve, reject) => {
    const asking = httpRequest({
      createConnection: () => socket,
      path: "/",
      headers: { host: `localhost:${port}`, accept: "text/html,*/*;q=0.8", connection: "close" },
      insecureHTTPParser: true,
      signal,
    });
    asking.once("response", resolve);
    asking.once("error", reject);
    asking.end();
  });
}

/** How good an answer is: a page to open, some other answer below 500, or a reason to go on waiting. */
export function gradeOf(probe: Probe): "page" | "other" | "wait" {
  if (probe.kind !== "answer" || probe.status >= 500) return "wait";
  if (probe.status >= 300) return probe.status < 400 ? "page" : "other";
  // Without a type a browser looks at the bytes and finds the page.
  return probe.contentType === undefined || /html/i.test(probe.contentType) ? "page" : "other";
}

/** Ports that an app's output names, in order of appearance; a hint for the order of probes, never a proof. */
export function printedPorts(log: string): readonly number[] {
  const urls = log.matchAll(/https?:\/\/(?:\[[0-9a-f:]+\]|[\w.-]+):(\d{2,5})/gi);
  const words = log.matchAll(/\bport\b\D{0,10}(\d{2,5})\b/gi);
  return [...new Set([...urls, ...words].map((match) => Number(match[1])))];
}
