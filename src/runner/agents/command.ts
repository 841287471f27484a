import { EvowebError } from "../../errors.ts";
import type { Agent, AgentContext, RequestInput, Turn } from "../agent.ts";
import type { CommandResult } from "../sandbox.ts";

// The request's file lies outside the workspace, so that it is never part of a snapshot. The request itself travels on
// standard input and the command in a variable: nothing of either is ever part of a shell's text.
const WRAPPER = `
set -eu
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cat > "$dir/request.txt"
export EVOWEB_REQUEST_FILE="$dir/request.txt"
command="$EVOWEB_AGENT_COMMAND"
unset EVOWEB_AGENT_COMMAND
/bin/sh -c "$command" < "$dir/request.txt"
`;

/**
 * Any shell command as an agent. It runs in the workspace once a request, with the request on standard input and in the
 * file that EVOWEB_REQUEST_FILE names; EVOWEB_REQUEST is the request's number, EVOWEB_PREAMBLE the fixed preamble.
 */
export function createCommandAgent(command: string): Agent {
  if (command.trim() === "") {
    throw new EvowebError("usage", '--agent command needs --command "…": the shell command that handles a request');
  }
  return {
    name: "command",
    runsGeneratedCommands: true,
    async open(context) {
      return {
        handle: (input, signal) => handle(command, context, { input, signal }),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
}

interface Call {
  readonly input: RequestInput;
  readonly signal: AbortSignal;
}

async function handle(command: string, context: AgentContext, { input, signal }: Call): Promise<Turn> {
  const { place, limits, preamble } = context;
  const result = await place.exec({
    argv: ["/bin/sh", "-c", WRAPPER],
    env: { EVOWEB_AGENT_COMMAND: command, EVOWEB_REQUEST: String(input.request), EVOWEB_PREAMBLE: preamble },
    stdin: input.text,
    timeoutMs: limits.timeoutMs,
    maxOutputBytes: limits.maxOutputBytes,
    signal,
  });
  signal.throwIfAborted();
  const limit =
    result.how === "timed_out" ? { clock: "wall_ms", value: result.durationMs, max: limits.timeoutMs } : undefined;
  return {
    status: statusOf(result),
    // A command is its own provider: that it ran is its answer, and what it left is judged.
    responded: true,
    exitCode: result.exitCode,
    reply: result.stdout.text.trim() === "" ? null : result.stdout.text,
    usage: null,
    costUsd: null,
    ...(limit === undefined ? {} : { limit }),
    log: `--- stdout (${result.stdout.totalBytes} bytes)\n${result.stdout.text}\n--- stderr (${result.stderr.totalBytes} bytes)\n${result.stderr.text}\n`,
  };
}

function statusOf(result: CommandResult): string {
  if (result.how === "timed_out") return "time_limit";
  return result.exitCode === 0 ? "completed" : "crashed";
}
