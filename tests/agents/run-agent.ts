import type { Agent, Turn } from "../../src/runner/agent.ts";
import { askGateway } from "../../src/runner/agent-gateway.ts";
import { Gateway, type RequestAccount } from "../../src/runner/gateway/gateway.ts";
import { Meter } from "../../src/runner/gateway/meter.ts";
import type { Place, Sandbox } from "../../src/runner/sandbox.ts";
import { openScriptedModel, type ScriptedCall, type ScriptedReply } from "./scripted-model.ts";

/** The key that no agent may ever see. */
export const REAL_KEY = "sk-the-real-key-of-the-host";

/** What an agent is asked, and where. */
export interface AgentRun {
  readonly agent: Agent;
  readonly sandbox: Sandbox;
  readonly image?: string;
  readonly script: (call: ScriptedCall) => ScriptedReply;
  readonly requests: readonly string[];
  readonly session?: "continue" | "fresh";
  readonly callsPerRequest?: number;
  /** Every call costs 1 dollar then. */
  readonly usdPerRequest?: number;
  /** Default: 60 s. */
  readonly timeoutMs?: number;
}

/** What came of it; the place is still open. */
export interface AgentRunResult {
  readonly place: Place;
  readonly turns: readonly Turn[];
  readonly accounts: readonly (RequestAccount | null)[];
  readonly calls: readonly ScriptedCall[];
}

/** Lets an agent handle requests with a scripted model behind the gateway, and `use` look at the outcome. */
export async function runAgent(run: AgentRun, use: (result: AgentRunResult) => Promise<void> | void): Promise<void> {
  const { agent, sandbox, requests, session = "continue" } = run;
  await using model = await openScriptedModel(run.script);
  const gateway = new Gateway({
    upstreams: { openai: { baseUrl: model.url, apiKey: REAL_KEY } },
    budgets: { request: { calls: run.callsPerRequest, usd: run.usdPerRequest }, app: {}, run: {} },
    runMeter: new Meter(),
    priceOf: () => (run.usdPerRequest === undefined ? null : 1),
    record: () => {},
    mask: (text) => text,
  });
  await using place = await sandbox.open({
    label: "agent",
    limits: { memoryBytes: 2 ** 31, cpus: 2, pids: 200 },
    gateway: gateway.server,
    ...(run.image === undefined ? {} : { image: run.image }),
  });
  await using opened = await agent.open({
    rowId: "1",
    place,
    preamble: "PREAMBLE",
    limits: { timeoutMs: run.timeoutMs ?? 60_000, maxOutputBytes: 64 * 1024 },
    session,
    model: {
      name: "scripted-1",
      url: place.gatewayUrl ?? "",
      apiKey: gateway.placeholderKey,
      account: () => gateway.account(),
      ask: askGateway(gateway),
    },
  });
  const turns: Turn[] = [];
  const accounts: (RequestAccount | null)[] = [];
  for (const [index, text] of requests.entries()) {
    gateway.begin(index + 1, 1);
    turns.push(await opened.handle({ request: index + 1, text }, new AbortController().signal));
    accounts.push(await gateway.finish());
  }
  await use({ place, turns, accounts, calls: model.calls });
}
