// Started by a test as a program of its own: opens a pool, says its process group, and dies without a word.
import { openBrowserPool } from "../../src/judge/browser-pool.ts";
import { chromiumForTests } from "./browser-support.ts";

const chromium = await chromiumForTests();
if (chromium === undefined) throw new Error("no Chromium");
const pool = await openBrowserPool({ chromium });
process.stdout.write(`${pool.processGroup}\n`, () => process.kill(process.pid, "SIGKILL"));
