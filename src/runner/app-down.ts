import type { FAILURE_CLASSES } from "../trace/event.ts";
import type { CappedOutput, EgressRecord, ProcessEnd } from "./sandbox.ts";

const LOG_LINES = 50;
const LOG_CHARS = 8000;
const REFUSALS_SHOWN = 20;

/** An app that cannot be judged: what kind of failure, and the facts it was told from. */
export interface AppDown {
  readonly status: "down";
  readonly class: (typeof FAILURE_CLASSES)["app"][number];
  /** Plain data for the trace: reason, exit code, signal, ports, probe results, log tail. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Output of the step that failed, bounded; for install.log or app.log. */
  readonly log: string;
}

/** The last 50 lines of an output. */
export function logTail(log: string): string {
  return log.trimEnd().split("\n").slice(-LOG_LINES).join("\n").slice(-LOG_CHARS);
}

/** A failure with the tail of its log among the evidence. */
export function appDown(kind: AppDown["class"], facts: Readonly<Record<string, unknown>>, log: string): AppDown {
  return { status: "down", class: kind, evidence: { ...facts, logTail: logTail(log) }, log };
}

/** The facts of an end, and its class when the kernel ended it for its memory. */
export function endFacts(end: ProcessEnd): Readonly<Record<string, unknown>> {
  return { exitCode: end.exitCode, signal: end.signal, how: end.how };
}

/** Both streams of a finished command as one text. */
export function joinOutput(command: string, stdout: CappedOutput, stderr: CappedOutput): string {
  return [`$ ${command}`, stdout.text.trimEnd(), stderr.text.trimEnd()].filter((part) => part !== "").join("\n");
}

/** What the egress proxy refused, for the evidence of a failed install. */
export function refusals(log: readonly EgressRecord[]): readonly string[] {
  return [...new Set(log.filter((record) => !record.allowed).map((record) => record.target))].slice(0, REFUSALS_SHOWN);
}
