import type { AgentSpec } from "./spec.ts";
import { readStreamJson } from "./stream-json.ts";

const VERSION = "0.24.4";

/** Qwen Code: chat completions, sessions with an id that we choose; it finds them only from the same folder. */
export const qwenCodeAgent: AgentSpec = {
  name: "qwen-code",
  version: VERSION,
  canContinue: true,
  layer: {
    dockerfile: [`RUN npm install -g --ignore-scripts @qwen-code/qwen-code@${VERSION}`],
    selfTest: ["qwen", "--version"],
  },
  files: () => ({
    ".qwen/settings.json": JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
  command: ({ model, prompt, isFirst, ownSessionId }) => ({
    argv: [
      "qwen",
      "--auth-type",
      "openai",
      "--approval-mode",
      "yolo",
      "--output-format",
      "stream-json",
      isFirst ? "--session-id" : "--resume",
      ownSessionId,
    ],
    env: { OPENAI_MODEL: model.name },
    stdin: prompt,
  }),
  read: readStreamJson,
};
