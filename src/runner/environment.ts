import type { HubAccess } from "../dataset/hub/hub-access.ts";
import type { Upstreams } from "./gateway/upstream.ts";

/** What the command line took from the process environment for the runner; nothing else of it gets in. */
export interface RunEnvironment {
  /** Values that must never be written anywhere, see `secretsOf`. */
  readonly secrets: readonly string[];
  /** Where the agent's model answers, with the keys; empty: nowhere. Absent: as empty. */
  readonly agentEndpoints?: Upstreams;
  /** EVOWEB_CHROMIUM; absent: a browser is looked for. */
  readonly chromium?: string;
  /** DOCKER_HOST; absent: the usual socket. */
  readonly dockerHost?: string;
  /** EVOWEB_BASE_IMAGE: an image with glibc to build the sandbox image on. */
  readonly baseImage?: string;
  /** EVOWEB_JUDGE_BASE_URL and EVOWEB_JUDGE_API_KEY, else OPENAI_BASE_URL and OPENAI_API_KEY. */
  readonly judge?: { readonly baseUrl?: string; readonly apiKey?: string };
  /** HF_ENDPOINT, HF_TOKEN, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE; absent: the public hub without a token. */
  readonly hub?: HubAccess;
}
