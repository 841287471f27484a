import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The model APIs that the gateway passes on. */
export type ModelApi = "openai-chat" | "openai-responses" | "anthropic-messages";

/** What a path asks for. */
export interface Route {
  /** Null for look-ups that produce no answer of a model: the list of models, counting of tokens. */
  readonly api: ModelApi | null;
  /** Whose shape errors have, and which upstream answers. */
  readonly family: "openai" | "anthropic";
  /** Path below the version, such as "/chat/completions", with its query. */
  readonly suffix: string;
}

const APIS: Readonly<Record<string, ModelApi>> = {
  "/chat/completions": "openai-chat",
  "/responses": "openai-responses",
  "/messages": "anthropic-messages",
};
// An agent may be given the address with or without the version, and with a prefix of ours that names run, app and request.
const PATH =
  /^(?:\/r(?:\/[\w.-]+)*?)?(?:\/v1)?(\/chat\/completions|\/responses|\/messages(?:\/count_tokens)?|\/models(?:\/[\w.:%/-]+)?)$/u;

/** What a request's target asks for; null for everything the gateway does not serve. */
export function routeOf(target: string, headers: IncomingHttpHeaders): Route | null {
  const [path = "", query] = target.split("?", 2);
  const suffix = PATH.exec(path)?.[1];
  if (suffix === undefined) return null;
  const isAnthropic = suffix.startsWith("/messages") || headers["anthropic-version"] !== undefined;
  return {
    api: APIS[suffix] ?? null,
    family: isAnthropic ? "anthropic" : "openai",
    suffix: query === undefined ? suffix : `${suffix}?${query}`,
  };
}

/** An error of ours, before it gets the shape that the agent's API has for errors. */
export interface GatewayError {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/** The body of an error in the shape of the API. */
export function errorBody(family: Route["family"], { type, code, message }: GatewayError): string {
  const error = { type, code, message };
  return JSON.stringify(family === "anthropic" ? { type: "error", error } : { error: { ...error, param: null } });
}

/** Whether a caller shows this key, wherever its API puts it. */
export function showsKey(headers: IncomingHttpHeaders, key: string): boolean {
  const own = headers["x-api-key"];
  const shown = typeof own === "string" ? own : /^Bearer (.+)$/iu.exec(headers.authorization ?? "")?.[1];
  const given = Buffer.from(shown ?? "");
  return given.length === key.length && timingSafeEqual(given, Buffer.from(key));
}
