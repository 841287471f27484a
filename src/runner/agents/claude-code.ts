import type { AgentSpec } from "./spec.ts";
import { readStreamJson } from "./stream-json.ts";

const VERSION = "2.1.332";
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

/** Claude Code: the messages API, sessions with an id that we choose. Its install script puts the program in place. */
export const claudeCodeAgent: AgentSpec = {
  name: "claude-code",
  version: VERSION,
  canContinue: true,
  layer: {
    dockerfile: [`RUN npm install -g @anthropic-ai/claude-code@${VERSION}`],
    env: QUIET,
    selfTest: ["claude", "--version"],
  },
  command: ({ model, prompt, isFirst, ownSessionId }) => ({
    argv: [
      "claude",
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      isFirst ? "--session-id" : "--resume",
      ownSessionId,
    ],
    // It asks again even after a refused key, for minutes by default.
    env: {
      ...QUIET,
      CLAUDE_CODE_MAX_RETRIES: "2",
      ANTHROPIC_MODEL: model.name,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model.name,
    },
    stdin: prompt,
  }),
  read: readStreamJson,
};
