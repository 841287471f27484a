import { homedir } from "node:os";
import path from "node:path";
import { secretsOf, type HubAccess, type RunEnvironment } from "../index.ts";

const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com";

/** What the runner may know of this process's environment. */
export function readEnvironment(): RunEnvironment {
  const { EVOWEB_CHROMIUM: chromium, DOCKER_HOST: dockerHost, EVOWEB_BASE_IMAGE: baseImage } = process.env;
  return {
    secrets: secretsOf(process.env),
    hub: readHubAccess(),
    agentEndpoints: agentEndpoints(),
    judge: readJudgeAccess(),
    ...(chromium === undefined || chromium === "" ? {} : { chromium }),
    ...(dockerHost === undefined || dockerHost === "" ? {} : { dockerHost }),
    ...(baseImage === undefined || baseImage === "" ? {} : { baseImage }),
  };
}

function readJudgeAccess(): { readonly baseUrl?: string; readonly apiKey?: string } {
  const baseUrl = process.env["EVOWEB_JUDGE_BASE_URL"] || process.env["OPENAI_BASE_URL"];
  const apiKey = process.env["EVOWEB_JUDGE_API_KEY"] || process.env["OPENAI_API_KEY"];
  return {
    ...(baseUrl === undefined || baseUrl === "" ? {} : { baseUrl }),
    ...(apiKey === undefined || apiKey === "" ? {} : { apiKey }),
  };
}

/** How the Hugging Face Hub is reached: the variables that its Python client reads too. */
export function readHubAccess(): HubAccess {
  const value = (name: string): string | undefined => process.env[name]?.trim() || undefined;
  const url = value("HF_ENDPOINT");
  const token = value("HF_TOKEN") ?? value("HUGGING_FACE_HUB_TOKEN");
  const home = value("HF_HOME") ?? path.join(value("XDG_CACHE_HOME") ?? path.join(homedir(), ".cache"), "huggingface");
  const cacheDir = value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE") ?? path.join(home, "hub");
  return {
    cacheDir: cacheDir.replace(/^~(?=\/|$)/, homedir()),
    isOffline: /^(1|on|yes|true)$/i.test(value("HF_HUB_OFFLINE") ?? ""),
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
  };
}

/** Endpoints of the agent's model: EVOWEB_AGENT_* for all APIs, else OPENAI_* and ANTHROPIC_* for their own. */
function agentEndpoints(): NonNullable<RunEnvironment["agentEndpoints"]> {
  const env = process.env;
  const own = endpoint(env["EVOWEB_AGENT_BASE_URL"], env["EVOWEB_AGENT_API_KEY"] || env["OPENAI_API_KEY"]);
  if (own !== undefined) return { openai: own };
  const openai = endpoint(env["OPENAI_BASE_URL"] || OPENAI_URL, env["EVOWEB_AGENT_API_KEY"] || env["OPENAI_API_KEY"]);
  const anthropic = endpoint(env["ANTHROPIC_BASE_URL"] || ANTHROPIC_URL, env["ANTHROPIC_API_KEY"]);
  return { ...(openai === undefined ? {} : { openai }), ...(anthropic === undefined ? {} : { anthropic }) };
}

function endpoint(baseUrl: string | undefined, apiKey: string | undefined) {
  return baseUrl && apiKey ? { baseUrl, apiKey } : undefined;
}
