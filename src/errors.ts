/**
 * Every way the harness itself can fail. What an app, an agent or a judge does wrong is data in the trace, never an error.
 *
 * - `usage`: the command line or an option is wrong (exit code 2).
 * - `dataset`: a row file is missing, unreadable or breaks an invariant.
 * - `trace`: a run folder or trace cannot be read or belongs to something else.
 * - `locked`: another live process holds the run folder.
 * - `docker`: the engine does not answer, or refused what was asked of it.
 * - `image`: the sandbox image is missing, cannot be built or lacks a program we need.
 * - `browser`: no usable Chromium, or it cannot be started.
 * - `sandbox`: a place for commands could not be made, or failed under a command.
 * - `model`: the endpoint of a model did not answer, or refused its key.
 * - `git`: the snapshot store failed.
 * - `io`: the disk refused a read or a write.
 * - `bug`: a state that should not exist; please report it.
 */
export type EvowebErrorCode =
  | "usage"
  | "dataset"
  | "trace"
  | "locked"
  | "docker"
  | "image"
  | "browser"
  | "sandbox"
  | "model"
  | "git"
  | "io"
  | "bug";

/** A fault of the harness or its input: what, where and what to do, in one readable message. */
export class EvowebError extends Error {
  /** Which kind of fault; decides the exit code. */
  readonly code: EvowebErrorCode;

  constructor(code: EvowebErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EvowebError";
    this.code = code;
  }
}

/** The message of anything thrown, without ANSI codes, for one line of text. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  // Playwright colours its messages even when nobody asked for colours.
  // oxlint-disable-next-line no-control-regex -- the escape character is what is being removed
  return text.replaceAll(/\u001b\[[0-9;]*m/g, "");
}
