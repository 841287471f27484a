import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Route } from "./api.ts";

/** A model endpoint with its key. */
export interface Upstream {
  /** With or without the version, such as "https://host" or "https://host/v1". */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The endpoints a run may use; an absent one is not served. */
export interface Upstreams {
  /** Serves chat completions and responses. */
  readonly openai?: Upstream;
  /** Serves messages. Absent: the other one is asked for them too, as many endpoints speak all three. */
  readonly anthropic?: Upstream;
}

const NOT_PASSED_ON = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "content-length",
  "authorization",
  "x-api-key",
  "cookie",
  "set-cookie",
  "accept-encoding",
]);

/** The address of a call at its endpoint. A path that ends in a version is taken as it is, else the version is added. */
export function upstreamUrl(baseUrl: string, suffix: string): URL {
  const base = baseUrl.replace(/\/+$/u, "");
  return new URL(`${base}${/\/v\d\w*$/u.test(base) ? "" : "/v1"}${suffix}`);
}

/** The endpoint for a route, and the headers that show its key. */
export function upstreamFor(
  { openai, anthropic }: Upstreams,
  family: Route["family"],
): { readonly upstream: Upstream; readonly auth: OutgoingHttpHeaders } | null {
  const upstream = family === "anthropic" ? (anthropic ?? openai) : openai;
  if (upstream === undefined) return null;
  const bearer = { authorization: `Bearer ${upstream.apiKey}` };
  if (family === "openai") return { upstream, auth: bearer };
  // An endpoint of the other kind that also serves messages may look for its key in either place.
  const own = { "x-api-key": upstream.apiKey };
  return { upstream, auth: anthropic === undefined ? { ...own, ...bearer } : own };
}

/** What is passed on of a message's headers: nothing of the connection, no key, no cookie. */
export function passedOn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name)));
}
