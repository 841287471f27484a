import { SILENT_TURN, type Agent } from "../agent.ts";

/** An agent that answers every request and changes nothing: the floor that every score has to be compared with. */
export function createNoopAgent(): Agent {
  return {
    name: "noop",
    runsGeneratedCommands: false,
    async open() {
      return { handle: async () => SILENT_TURN, [Symbol.asyncDispose]: async () => {} };
    },
  };
}
