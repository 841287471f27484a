import { homedir } from "node:os";
import path from "node:path";

/** How the Hugging Face Hub is reached; the command line fills it from HF_ENDPOINT, HF_TOKEN, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE. */
export interface HubAccess {
  /** Address of the hub without a slash at the end; absent: the public one. */
  readonly url?: string;
  /** Sent to the hub's own address only, never printed or stored. */
  readonly token?: string;
  /** Folder of the cache, in the layout of Python's huggingface_hub; absent: `~/.cache/huggingface/hub`. */
  readonly cacheDir?: string;
  /** No request is made; what is not in the cache is an error. Default: false. */
  readonly isOffline?: boolean;
  /** Limit of one pull with all its waits. Default: 10 minutes. */
  readonly timeoutMs?: number;
}

/** The cache folder in force, absolute. */
export function cacheDirOf({ cacheDir }: HubAccess): string {
  return path.resolve(cacheDir ?? path.join(homedir(), ".cache", "huggingface", "hub"));
}
