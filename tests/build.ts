import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Compiles what is stale, once for all end-to-end tests: they run the code that is published. */
export function setup(): void {
  const script = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [script, "--if-stale"], { stdio: "inherit" });
  if (status !== 0) throw new Error("the build failed; see above");
}
