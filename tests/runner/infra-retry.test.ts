import { expect, test } from "vitest";
import { EvowebError } from "../../src/errors.ts";
import { retryInfra, triesOf } from "../../src/runner/infra-retry.ts";

const never = new AbortController().signal;

test("what the sandbox failed at is tried three times, then thrown", async () => {
  const tries: number[] = [];
  const step = async (tryNumber: number): Promise<void> => {
    tries.push(tryNumber);
    throw new EvowebError("sandbox", "gone");
  };
  const error = await retryInfra(step, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "gone" });
  expect(triesOf(error as Error)).toBe(3);
  expect(tries).toEqual([1, 2, 3]);
});

test("what does not heal by waiting is thrown at once", async () => {
  let tries = 0;
  const step = async (): Promise<void> => {
    tries += 1;
    throw new EvowebError("io", "disk full");
  };
  const error = await retryInfra(step, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "disk full" });
  expect(triesOf(error as Error)).toBe(1);
  expect(tries).toBe(1);
});

test("an abort waits for the step in flight, so that what it opens is never without an owner", async () => {
  const controller = new AbortController();
  let open: (value: string) => void = () => {};
  const opened = new Promise<string>((resolve) => {
    open = resolve;
  });
  const result = retryInfra(() => opened, controller.signal);
  controller.abort();
  open("a started app");
  await expect(result).resolves.toBe("a started app");
});
