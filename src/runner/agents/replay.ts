import type { Readable } from "node:stream";
import { SILENT_TURN, type Agent } from "../agent.ts";
import { SNAPSHOT_EXCLUDES } from "../snapshot-store.ts";

/** Where a replay takes its workspaces from: the tree of a row after a request, as a tar stream. */
export type ReplaySource = (rowId: string, request: number) => Promise<Readable>;

/** An agent that puts recorded workspaces into place: a solution, a mutant, or what another run left behind. */
export function createReplayAgent(name: string, source: ReplaySource): Agent {
  return {
    name,
    runsGeneratedCommands: false,
    async open({ rowId, place }) {
      return {
        async handle({ request }) {
          const tree = await source(rowId, request);
          await place.clearTree(SNAPSHOT_EXCLUDES);
          await place.writeTree(tree);
          return SILENT_TURN;
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
}
