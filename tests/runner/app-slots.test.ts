import { expect, test } from "vitest";
import { appsForRoom, choosePace } from "../../src/runner/app-slots.ts";

const room = { availableMb: 16_384, cores: 4, memoryMb: 2048, waitsForModel: false, apps: 100 };

test("apps at a time follow cores, memory and how many apps there are, and are never none", () => {
  expect(appsForRoom(room)).toBe(5);
  expect(appsForRoom({ ...room, waitsForModel: true })).toBe(7);
  expect(appsForRoom({ ...room, waitsForModel: true, memoryMb: 512 })).toBe(16);
  expect(appsForRoom({ ...room, availableMb: 5200 })).toBe(2);
  expect(appsForRoom({ ...room, availableMb: 300 })).toBe(1);
  expect(appsForRoom({ ...room, apps: 2 })).toBe(2);
});

test("a number that was asked for is taken, and auto says from what it chose", () => {
  const run = { waitsForModel: false, apps: 3 };
  expect(choosePace({ workers: 2, memoryMb: 2048 }, run)).toEqual({ workers: 2 });
  expect(choosePace({ workers: 2, concurrency: 7, memoryMb: 2048 }, run)).toEqual({ workers: 7 });
  const { workers, room: measured } = choosePace({ workers: 2, concurrency: "auto", memoryMb: 64 }, run);
  expect(workers).toBeGreaterThanOrEqual(1);
  expect(measured).toMatchObject({ memoryMb: 64, apps: 3 });
});
