import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAcpAgent, modelAgents } from "../../src/runner/agents/table.ts";
import { ensureAgentImage } from "../../src/runner/docker/agent-image.ts";
import type { Sandbox } from "../../src/runner/sandbox.ts";
import { openTestSandbox } from "../runner/docker/engine.ts";
import { PROPERTIES, type Subject } from "./conformance.ts";

// All agents with an image, in real containers: `npm run test:agents`. EVOWEB_TEST_AGENTS names some of them.
const caFile = process.env["EVOWEB_CA_FILE"];
const chosen = process.env["EVOWEB_TEST_AGENTS"]?.split(",");
const opened = [
  ...[...modelAgents()].map(([label, agent]) => ({ label, agent })),
  ...["opencode acp", "qwen --acp"].map((command) => ({ label: `acp: ${command}`, agent: createAcpAgent(command) })),
];
const agents = opened.flatMap(({ label, agent }) =>
  agent.layer === undefined || (chosen !== undefined && !chosen.includes(label))
    ? []
    : [{ label, agent: { ...agent, layer: agent.layer } }],
);
const headings = Object.keys(PROPERTIES);
const rows = new Map<string, string[]>();
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;

describe.each(agents)("$label", ({ label, agent }) => {
  let sandbox: Sandbox;
  let subject: Subject;
  const cells = headings.map(() => "not run");
  beforeAll(async () => {
    rows.set(label, [label, agent.version ?? "", "not run", ...cells]);
    sandbox = await openTestSandbox();
    const { tag, sizeBytes } = await ensureAgentImage(agent, caFile === undefined ? {} : { caFile });
    subject = { agent, sandbox, image: tag };
    rows.set(label, [label, agent.version ?? "", String(Math.round(sizeBytes / 1e6))]);
  });
  afterAll(async () => {
    rows.get(label)?.splice(3, headings.length, ...cells);
    await sandbox[Symbol.asyncDispose]();
  });
  test.each(headings.map((heading, index) => ({ heading, index })))("$heading", async ({ heading, index }) => {
    cells[index] = "**no**";
    const how = await PROPERTIES[heading]?.(subject);
    expect(how).toBeDefined();
    cells[index] = how ?? "";
  });
});

afterAll(() => {
  const head = ["agent", "version", "image, MB", ...headings];
  const lines = [head, head.map(() => "---"), ...rows.values()].map(row);
  process.stdout.write(`\n${new Date().toISOString().slice(0, 10)}\n\n${lines.join("")}\n`);
});
