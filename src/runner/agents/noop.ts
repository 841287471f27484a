import type { Agent, Turn } from "../agent.ts";

const turn: Turn = {
  status: "completed",
  responded: true,
  exitCode: null,
  reply: null,
  usage: null,
  costUsd: null,
  log: "",
};

/** An agent that answers every request and changes nothing: the floor that every score has to be compared with. */
export function createNoopAgent(): Agent {
  return {
    name: "noop",
    runsGeneratedCommands: false,
    async open() {
      return { handle: async () => turn, [Symbol.asyncDispose]: async () => {} };
    },
  };
}
