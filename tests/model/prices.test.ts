import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { priceOf, readPriceFile } from "../../src/model/prices.ts";
import { makeTempFolder } from "../temp-folder.ts";

test("a dated name has the price of the name, unless it has its own; an unknown name has none", () => {
  expect(priceOf("gpt-4o-2024-08-06")).toStrictEqual({ inputUsdPerMillion: 2.5, outputUsdPerMillion: 10 });
  expect(priceOf("gpt-4o-2024-05-13")).toStrictEqual({ inputUsdPerMillion: 5, outputUsdPerMillion: 15 });
  expect(priceOf("some/gpt-4o")).toBeNull();
});

test("a price file overrides the list and adds to it", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "prices.json");
  writeFileSync(file, '{"mine": {"inputUsdPerMillion": 0, "outputUsdPerMillion": 0.5}}');
  expect(priceOf("mine", readPriceFile(file))?.outputUsdPerMillion).toBe(0.5);
  writeFileSync(file, '{"mine": 3}');
  expect(() => readPriceFile(file)).toThrow("mine");
});
