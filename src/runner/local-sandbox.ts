import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { EvowebError } from "../errors.ts";
import { LOCAL_FOLDER_PREFIX, OWNER_FILE, PLACE_VARIABLE } from "./local-leftovers.ts";
import { LocalPlace, type LocalPlaceSetup } from "./local-place.ts";
import { copyTrees, removeTree } from "./local-tree.ts";
import { thisOwner } from "./lease.ts";
import type { Place, PlaceOptions, Sandbox, SandboxDescription } from "./sandbox.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** How a local sandbox is made. */
export interface LocalSandboxOptions {
  /** Written beside the owner, so that a leftover says where it came from. */
  readonly runId: string;
  /** Where the sandbox makes its folder; default: the system's folder for temporary files. */
  readonly tmpDir?: string;
  /** Added to the environment of every command, such as a package manager's CA and proxy settings. Default: nothing. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Plain processes of this user: no isolation at all, only order. */
class LocalSandbox implements Sandbox {
  readonly kind = "local";
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #places = new Set<LocalPlace>();
  #opened = 0;

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
  }

  async describe(): Promise<SandboxDescription> {
    return {
      kind: "local",
      notes: [
        `No isolation: commands run as plain processes of the user ${userInfo().username} and can read and change what this user can.`,
        "Memory, CPU and process limits are not enforced.",
        "Outgoing connections are not restricted: the egress allow-list is not enforced.",
        "Commands get a private HOME and TMPDIR and a small fixed environment; the host's environment is not passed on.",
      ],
    };
  }

  async open(options: PlaceOptions): Promise<Place> {
    this.#opened += 1;
    const folder = join(this.#folder, String(this.#opened));
    const root = join(folder, "tree");
    const home = join(folder, "home");
    const temporary = join(folder, "tmp");
    const stateRoot = join(folder, "state");
    // The folders below name commands by this; the random part keeps markers of other runs apart.
    const id = `${this.#folder.slice(this.#folder.lastIndexOf("/") + 1)}/${this.#opened}`;
    const setup: LocalPlaceSetup = {
      label: options.label,
      folder,
      root,
      stateRoot,
      gateway: options.gateway ?? null,
      id,
      env: {
        PATH: `${dirname(process.execPath)}:${SYSTEM_PATH}`,
        HOME: home,
        TMPDIR: temporary,
        LANG: "C.UTF-8",
        // One download per run, not one per place.
        npm_config_cache: join(this.#folder, "npm-cache"),
        ...this.#env,
        [PLACE_VARIABLE]: id,
      },
      below: (options.below ?? []).map(({ root: below }) => below),
      onDispose: (place) => this.#places.delete(place),
    };
    try {
      for (const path of [root, home, temporary, stateRoot]) await mkdir(path, { recursive: true, mode: 0o700 });
      await copyTrees(setup.below, root);
      if (setup.gateway !== null) await once(setup.gateway.listen(0, "127.0.0.1"), "listening");
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
    const place = new LocalPlace(setup);
    this.#places.add(place);
    return place;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const place of this.#places) await place[Symbol.asyncDispose]();
    await removeTree(this.#folder);
  }
}

/** Opens a local sandbox. Throws `EvowebError("sandbox")` where there is no /proc, `EvowebError("io")` without a folder. */
export async function openLocalSandbox(options: LocalSandboxOptions): Promise<Sandbox> {
  if (!existsSync("/proc/self/environ")) {
    throw new EvowebError("sandbox", "The local sandbox needs Linux with /proc. Use --sandbox docker on this system.");
  }
  const parent = options.tmpDir ?? tmpdir();
  try {
    const base = await realpath(parent);
    const folder = await mkdtemp(join(base, `${LOCAL_FOLDER_PREFIX}${randomBytes(4).toString("hex")}-`));
    await writeFile(join(folder, OWNER_FILE), JSON.stringify({ owner: thisOwner(), runId: options.runId }));
    return new LocalSandbox(folder, options.env ?? {});
  } catch (error) {
    throw new EvowebError("io", `Cannot make a folder for the local sandbox in ${parent}.`, { cause: error });
  }
}
