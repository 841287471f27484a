import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** A data set on the hub: its files, and how an answer to a download is spoiled. */
export interface HubRepo {
  readonly name: string;
  readonly commit: string;
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** Files listed with a SHA-256, as in large storage. */
  readonly large?: readonly string[];
  /** Takes over the answer to a request when it returns true. */
  readonly spoil?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A hub that speaks the real routes and counts what it is asked for. */
export interface HubServer {
  readonly url: string;
  /** "METHOD path" of each request. */
  readonly requests: readonly string[];
  readonly authorizations: readonly (string | undefined)[];
  close(): Promise<void>;
}

/** A local hub with one data set, until the test ends. */
export async function startHub(repo: HubRepo): Promise<HubServer> {
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    authorizations.push(request.headers.authorization);
    if (repo.spoil?.(request, response) !== true) answer(repo, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, requests, authorizations, close };
}

function answer(repo: HubRepo, request: IncomingMessage, response: ServerResponse): void {
  const path = decodeURIComponent((request.url ?? "").split("?")[0] ?? "");
  const api = `/api/datasets/${repo.name}`;
  if (!path.startsWith(`${api}/`) && !path.startsWith(`/datasets/${repo.name}/`)) refuse(response, 404, "RepoNotFound");
  else if ([`${api}/revision/main`, `${api}/revision/${repo.commit}`].includes(path)) {
    sendJson(response, { _id: "1", id: repo.name, sha: repo.commit, private: false, gated: false });
  } else if (path.startsWith(`${api}/revision/`)) refuse(response, 404, "RevisionNotFound");
  else if (path === `${api}/tree/${repo.commit}`) sendJson(response, listing(repo));
  else {
    const name = path.slice(`/datasets/${repo.name}/resolve/${repo.commit}/`.length);
    const content = repo.files[name];
    if (content === undefined) refuse(response, 404, "EntryNotFound");
    else sendFile(Buffer.from(content), request, response);
  }
}

function listing({ files, large }: HubRepo): readonly unknown[] {
  return Object.entries(files).map(([path, content]) => {
    const bytes = Buffer.from(content);
    const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
    const lfs = { oid: createHash("sha256").update(bytes).digest("hex"), size: bytes.length, pointerSize: 130 };
    return { type: "file", path, size: bytes.length, oid, ...(large?.includes(path) === true ? { lfs } : {}) };
  });
}

function sendFile(bytes: Buffer, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("etag", '"e"');
  if (request.headers.range !== "bytes=0-0") response.writeHead(200, { "content-length": bytes.length }).end(bytes);
  else response.writeHead(206, { "content-range": `bytes 0-0/${bytes.length}` }).end(bytes.subarray(0, 1));
}

function sendJson(response: ServerResponse, data: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(data));
}

/** The hub's way to say no. */
export function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "x-error-code": code, "content-type": "application/json" }).end('{"error":"refused"}');
}
