import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findChromium } from "../../src/judge/chromium.ts";
import { temporaryFolder } from "./browser-support.ts";

async function program(folder: string, name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test("the user's own browser is taken, its kind told by its name and its version by itself", async () => {
  await using folder = await temporaryFolder();
  const shell = await program(folder.path, "chrome-headless-shell", "echo 'HeadlessChrome 150.0.1.2'");
  expect(await findChromium({ explicitPath: shell, playwrightAllowed: false })).toEqual({
    executablePath: shell,
    kind: "headless-shell",
    version: "150.0.1.2",
  });
  const full = await program(folder.path, "chrome", "echo 'Chromium 151.0.0.1 built on something 12'");
  expect(await findChromium({ explicitPath: full, playwrightAllowed: false })).toMatchObject({
    kind: "full",
    version: "151.0.0.1",
  });
});

test("a user's own browser that cannot be used is an error that names it, never a silent other choice", async () => {
  await using folder = await temporaryFolder();
  const broken = await program(folder.path, "chrome", "exit 3");
  for (const explicitPath of [broken, join(folder.path, "missing"), folder.path, ""]) {
    await expect(findChromium({ explicitPath, playwrightAllowed: true })).rejects.toMatchObject({
      code: "browser",
      message: expect.stringContaining(`EVOWEB_CHROMIUM names "${explicitPath}"`) as string,
    });
  }
});
