import { sha256 } from "./app-trace.ts";

/** Changes whenever any text below does; stored in run.json with the hash of the texts. */
export const PREAMBLE_VERSION = "2";

/** What every agent is told once, before request 1. It names no check, verdict, log or later request. */
export function preambleFor(root: string): string {
  return [
    `You work on one web app in the folder ${root}. Requests come one after the other; each changes the same app.`,
    "Nobody answers questions: decide by yourself and finish each request before you end your turn.",
    "After each request the app is installed and started from a copy of that folder:",
    "dependencies by the lockfile's package manager (npm, pnpm or yarn); then the package.json script `dev` when there is one,",
    "else `build` (when there is one) followed by `start`; without scripts, an index.html at the top is served as static files.",
    "The environment variable PORT suggests a port; any port the app listens on is found. It must answer HTTP within a minute.",
    "Keep node_modules out of version control: it is not part of the copy. Data that must survive a restart belongs in files of that folder.",
  ].join("\n");
}

/** What an agent is told that neither called a tool nor changed a file; the same for every agent, two times at most. */
export const NUDGE =
  "Nobody answers questions. Decide by yourself, carry the request out in the workspace, and end your turn when it is done.";

/** The time that is left for a request, as its last line. */
export function timeLeft(leftMs: number): string {
  const minutes = Math.floor(leftMs / 60_000);
  const seconds = Math.floor((leftMs % 60_000) / 1000);
  return `(Time left for this request: ${minutes === 0 ? `${seconds} s` : `${minutes} min`}.)`;
}

/** Hash over all texts that evoweb adds to a request. */
export function preambleHash(): string {
  return sha256([preambleFor("/workspace"), NUDGE, timeLeft(60_000)].join("\0"));
}
