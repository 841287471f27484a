import { afterAll, beforeAll, expect, test } from "vitest";
import { piAgent } from "../../../src/runner/agents/pi.ts";
import { createProcessAgent } from "../../../src/runner/agents/process-agent.ts";
import { ensureAgentImage } from "../../../src/runner/docker/agent-image.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { PROPERTIES } from "../../agents/conformance.ts";
import { runAgent } from "../../agents/run-agent.ts";
import { describeWithDocker, openTestSandbox } from "../docker/engine.ts";

const caFile = process.env["EVOWEB_CA_FILE"];

describeWithDocker("the real pi in its image", () => {
  let sandbox: Sandbox;
  let image: string;
  beforeAll(async () => {
    sandbox = await openTestSandbox();
    image = (await ensureAgentImage(piAgent, caFile === undefined ? {} : { caFile })).tag;
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());
  const agent = createProcessAgent(piAgent);

  test.each(Object.entries(PROPERTIES))("conformance: %s", async (_, property) => {
    expect(await property({ agent, sandbox, image })).toBe("yes");
  });

  test("a refused key is told from its events and the gateway's, not from its exit code", async () => {
    await runAgent({ agent, sandbox, image, script: () => ({ status: 401 }), requests: ["x"] }, ({ turns }) => {
      expect(turns).toMatchObject([{ status: "model_api", outcome: "provider_error", responded: false }]);
    });
  });
});
