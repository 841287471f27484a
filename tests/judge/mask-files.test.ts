import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { maskFiles } from "../../src/judge/mask-files.ts";

test("a secret in a downloaded text is masked, and bytes that are no text stay as they are", async () => {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-mask-"));
  const picture = Buffer.from([0x52, 0x49, 0xff, 0xfe, ...Buffer.from("hunter2")]);
  await writeFile(join(folder, "orders.csv"), "id,key\n1,hunter2\n");
  await writeFile(join(folder, "picture.webp"), picture);
  await maskFiles(folder, ["orders.csv", "picture.webp"], (text) => text.replaceAll("hunter2", "[masked]"));
  expect(await readFile(join(folder, "orders.csv"), "utf8")).toBe("id,key\n1,[masked]\n");
  expect(await readFile(join(folder, "picture.webp"))).toEqual(picture);
  await rm(folder, { recursive: true });
});
