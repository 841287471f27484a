import type { OpenOptions } from "../dataset/open-dataset.ts";
import type { RunJson } from "../trace/run-json.ts";
import type { RunEnvironment } from "./environment.ts";
import type { RunOptions } from "./options.ts";

/** Which rows a run is about; a run that goes on takes the commit it was started with, not what a branch has become. */
export function sourceOf(
  { apps, config, split, revision }: RunOptions,
  stored: RunJson | null,
  { environment, signal }: { readonly environment?: RunEnvironment; readonly signal?: AbortSignal },
): OpenOptions {
  const hub = environment?.hub;
  const commit = stored?.provenance.dataset.revision ?? revision;
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(apps === undefined ? {} : { apps }),
    ...(config === undefined ? {} : { config }),
    ...(split === undefined ? {} : { split }),
    ...(commit === undefined ? {} : { revision: commit }),
    ...(hub === undefined ? {} : { hub }),
  };
}
