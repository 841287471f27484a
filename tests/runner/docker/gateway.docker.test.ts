import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { text } from "node:stream/consumers";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

describeWithDocker("the gateway of a container", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openTestSandbox();
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  const server = (): http.Server =>
    http.createServer((request, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.write(`first of ${request.url}\n`);
      void text(request).then((body) => response.end(`then ${body.length} bytes\n`));
    });

  test("is reached at its address in its own place and in no other, and can be used again by a later place", async () => {
    const gateway = server();
    for (const round of [1, 2]) {
      await using place = await sandbox.open({ label: `agent-${round}`, limits, gateway });
      await using other = await sandbox.open({ label: `served-${round}`, limits });
      const ask = `curl -sN -m 10 --data-binary @/usr/bin/tar http://127.0.0.1:897/v1/x || echo nothing`;
      expect(place.gatewayUrl).toBe("http://127.0.0.1:897");
      expect(other.gatewayUrl).toBeNull();
      const [own, foreign] = await Promise.all(
        [place, other].map((where) => where.exec({ argv: ["/bin/sh", "-c", ask], timeoutMs: 30_000 })),
      );
      expect(own?.stdout.text).toMatch(/^first of \/v1\/x\nthen \d{6} bytes\n$/u);
      expect(foreign?.stdout.text).toBe("nothing\n");
      // The app's own listeners are told from the relay's.
      expect(await place.listeners()).toEqual([]);
    }
    expect(gateway.listening).toBe(false);
  });
});
