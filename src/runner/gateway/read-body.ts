import type { IncomingMessage } from "node:http";

/** The largest question that is passed on. */
export const MAX_REQUEST_BYTES = 128 * 1024 * 1024;

/** The whole body; null when it is too large to be a question. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_REQUEST_BYTES) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
