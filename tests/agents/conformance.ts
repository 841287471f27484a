import { expect } from "vitest";
import { runAgent, REAL_KEY, type AgentRun, type AgentRunResult } from "./run-agent.ts";
import type { ScriptedCall, ScriptedReply } from "./scripted-model.ts";
import { shellCall } from "./shell-call.ts";

/** An agent and where it runs. */
export type Subject = Pick<AgentRun, "agent" | "sandbox" | "image">;

/** A property of an agent: throws when the agent has it not; a word other than "yes" says how it has it. */
export type Property = (subject: Subject) => Promise<string>;

type Script = AgentRun["script"];

/** Commands for the agent's shell one after the other, over all requests; null stands for the final answer. */
function script(steps: readonly (string | null | ScriptedReply)[]): Script {
  let next = 0;
  return (call) => {
    // Titles and summaries are asked for without tools.
    if (shellCall(call, "") === null) return { text: "a title" };
    const step = steps[Math.min(next, steps.length - 1)] ?? null;
    next += 1;
    if (typeof step === "string") return shellCall(call, step) ?? {};
    return step ?? { text: "done" };
  };
}

const loops: Script = (call: ScriptedCall) => shellCall(call, "true") ?? { text: "a title" };
const APPEND = "echo x >> log.txt";

async function shell({ place }: AgentRunResult, command: string): Promise<string> {
  const { stdout } = await place.exec({ argv: ["/bin/sh", "-c", command, "look", REAL_KEY], timeoutMs: 60_000 });
  return stdout.text;
}

async function twoRequests(subject: Subject, session: "continue" | "fresh"): Promise<void> {
  const run = { ...subject, session, requests: ["MARK-ONE", "MARK-TWO"] };
  await runAgent({ ...run, script: script([`${APPEND}; env > env.txt`, null, APPEND, null]) }, async (result) => {
    const { turns, accounts, calls, place } = result;
    expect(turns, turns.at(-1)?.log).toMatchObject(
      Array.from({ length: 2 }, () => ({ status: "completed", outcome: "answered", reply: "done", nudges: 0 })),
    );
    expect(await shell(result, "cat log.txt")).toBe("x\nx\n");
    const seconds = calls.filter(({ conversation }) => conversation.includes("MARK-TWO"));
    expect(seconds.length).toBeGreaterThan(0);
    expect(seconds.every(({ conversation }) => conversation.includes("MARK-ONE"))).toBe(session === "continue");
    // The model says 10 and 5 tokens each time.
    expect(accounts.reduce((sum, account) => sum + (account?.usage?.calls ?? 0), 0)).toBe(calls.length);
    for (const account of accounts) {
      const made = account?.usage?.calls ?? 0;
      expect(account?.usage).toMatchObject({ inputTokens: 10 * made, outputTokens: 5 * made });
    }
    const look = `grep -rqs "$1" . '${place.stateRoot}' /proc/self/environ && echo key || echo none`;
    expect(await shell(result, look)).toBe("none\n");
    expect(turns[0]?.steps?.some((step) => step.source === "agent" && step.tool_calls !== undefined)).toBe(true);
    expect(await place.endProcesses(0)).toEqual([]);
  });
}

async function continues(subject: Subject): Promise<string> {
  await twoRequests(subject, "continue");
  return "yes";
}

async function startsFresh(subject: Subject): Promise<string> {
  await twoRequests(subject, "fresh");
  return "yes";
}

async function survivesToolError(subject: Subject): Promise<string> {
  const steps = ["echo boom >&2; exit 3", APPEND, null];
  await runAgent({ ...subject, requests: ["do it"], script: script(steps) }, async (result) => {
    expect(result.turns, result.turns[0]?.log).toMatchObject([{ status: "completed", reply: "done" }]);
    expect(await shell(result, "cat log.txt")).toBe("x\n");
  });
  return "yes";
}

/** An agent that gives up at once is good enough when the runner can see that the provider failed: it tries again. */
async function survives(subject: Subject, fault: ScriptedReply): Promise<string> {
  let how = "yes";
  await runAgent({ ...subject, requests: ["do it"], script: script([fault, APPEND, null]) }, async (result) => {
    const [turn] = result.turns;
    if (turn?.status === "model_api" && turn.responded === false) {
      how = "evoweb tries again";
      return;
    }
    expect(turn, turn?.log).toMatchObject({ status: "completed", reply: "done" });
    expect(await shell(result, "cat log.txt")).toBe("x\n");
  });
  return how;
}

const survives429 = (subject: Subject): Promise<string> => survives(subject, { status: 429 });
const survivesCut = (subject: Subject): Promise<string> => survives(subject, { text: "a longer text", isCut: true });

async function stopsAtSteps(subject: Subject): Promise<string> {
  await runAgent({ ...subject, requests: ["loop"], script: loops, callsPerRequest: 4 }, ({ turns }) => {
    expect(turns, turns[0]?.log).toMatchObject([
      { status: "step_limit", limit: { clock: "llm_calls", max: 4 }, responded: true },
    ]);
  });
  return "yes";
}

async function stopsAtCost(subject: Subject): Promise<string> {
  await runAgent({ ...subject, requests: ["loop"], script: loops, usdPerRequest: 4 }, ({ turns }) => {
    expect(turns, turns[0]?.log).toMatchObject([{ status: "cost_limit", limit: { max: 4 }, responded: true }]);
  });
  return "yes";
}

async function stopsAtTime(subject: Subject): Promise<string> {
  const silent = { ...subject, requests: ["wait"], script: () => ({ isSilent: true }), timeoutMs: 6000 };
  await runAgent(silent, async ({ turns, place }) => {
    expect(turns, turns[0]?.log).toMatchObject([{ status: "time_limit", limit: { clock: "wall_ms" } }]);
    expect(await place.endProcesses(0)).toEqual([]);
  });
  return "yes";
}

/** What is asked of every agent, by the heading of its column in docs/agents.md. */
export const PROPERTIES: Readonly<Record<string, Property>> = {
  continue: continues,
  fresh: startsFresh,
  "tool error": survivesToolError,
  "HTTP 429": survives429,
  "cut stream": survivesCut,
  "step limit": stopsAtSteps,
  "cost limit": stopsAtCost,
  "time limit": stopsAtTime,
};
