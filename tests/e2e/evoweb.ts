import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = `${ROOT}dist/cli/main.js`;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts any command in a process group of its own. */
export function start(argv: readonly [string, ...string[]], { cwd = ROOT, env = {} }: SpawnOptions = {}): Started {
  const [program, ...args] = argv;
  // The results file and the colours of the test run are no business of what the tests start.
  const { EVOWEB_TEST_RESULTS: _, NODE_OPTIONS: __, FORCE_COLOR: ___, ...inherited } = process.env;
  const child = spawn(program, args, {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString("utf8"), stderr: Buffer.concat(err).toString("utf8") }),
    );
  });
  return { child, finished };
}

/** Runs the compiled `evoweb` to its end. */
export function evoweb(args: readonly string[], options?: SpawnOptions): Promise<Finished> {
  return start([process.execPath, MAIN, ...args], options).finished;
}

/** Starts the compiled `evoweb` and leaves it running. */
export function startEvoweb(args: readonly string[], options?: SpawnOptions): Started {
  return start([process.execPath, MAIN, ...args], options);
}

/** The fields of a score document that these tests look at. */
export interface ScoreDocument {
  readonly apps: readonly {
    readonly sampleIndex: number;
    readonly primary: { grade: number; survival: number; apr: [number, number] };
  }[];
  readonly run: {
    readonly complete: boolean;
    readonly grade: number;
    readonly survival: number;
    readonly apr: readonly [number, number];
  };
}

export const parseScore = (text: string): ScoreDocument => JSON.parse(text) as ScoreDocument;

/** Verdicts of a run that are not YES, as "app.request.check VERDICT", in order. */
export const notYes = (runDir: string): readonly string[] =>
  verdictsOf(runDir).filter((line) => !line.endsWith(" YES"));

/** Verdicts of a run as "app.request.check VERDICT", in order. */
export function verdictsOf(runDir: string): readonly string[] {
  const found: string[] = [];
  for (const app of readdirSync(runDir)
    .filter((name) => name.startsWith("app-"))
    .toSorted()) {
    const lines = readFileSync(`${runDir}/${app}/trace.jsonl`, "utf8").trim().split("\n");
    for (const line of lines) {
      const event = JSON.parse(line) as Record<string, unknown>;
      if (event["type"] !== "check_judged") continue;
      found.push(
        `${String(event["sampleIndex"])}.${String(event["request"])}.${String(event["check"])} ${String(event["verdict"])}`,
      );
    }
  }
  return found.toSorted();
}
