import { expect, test } from "vitest";
import { openCheckSlots } from "../../src/runner/check-slots.ts";

test("after a pause the check under way ends, waiting ones do not begin, and only then everything stops", async () => {
  const [stop, pause] = [new AbortController(), new AbortController()];
  const { slots, signal } = openCheckSlots(1, stop.signal, pause.signal);
  let end = (): void => undefined;
  const underWay = slots(() => new Promise<string>((resolve) => (end = () => resolve("judged"))));
  const waiting = slots(() => Promise.resolve("began"));
  await Promise.resolve();
  pause.abort(new Error("stopped by SIGINT"));
  expect(signal.aborted).toBe(false);
  end();
  expect(await underWay).toBe("judged");
  await expect(waiting).rejects.toThrow("stopped by SIGINT");
  expect(signal.aborted).toBe(true);
});

test("with no check under way a pause stops at once, and a stop never waits", async () => {
  const [stop, pause] = [new AbortController(), new AbortController()];
  const paused = openCheckSlots(2, stop.signal, pause.signal);
  pause.abort(new Error("stopped by SIGINT"));
  expect(paused.signal.aborted).toBe(true);
  const stopped = openCheckSlots(2, stop.signal);
  stop.abort(new Error("stopped now"));
  await expect(stopped.slots(() => Promise.resolve(1))).rejects.toThrow("stopped now");
});
