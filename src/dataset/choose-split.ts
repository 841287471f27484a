import { EvowebError } from "../errors.ts";

/** A split of a configuration of a data set. */
export interface Split {
  readonly config: string;
  readonly split: string;
}

/** Which split is wanted; absent parts are found when there is no doubt. */
export interface WantedSplit {
  readonly config?: string;
  readonly split?: string;
}

/**
 * The one split that is meant. Without `config`: the default configuration, or the only one that has the split. Without
 * `split`: the only one, or `test`.
 *
 * @throws EvowebError `usage` that lists what there is.
 */
export function chooseSplit<S extends Split>(
  name: string,
  { splits, defaultConfig }: { readonly splits: readonly S[]; readonly defaultConfig?: string },
  { config, split }: WantedSplit,
): S {
  const configs = [...new Set(splits.map((one) => one.config))];
  const fail = (what: string): never => {
    const known = configs.map((one) => `${one} (${splitsOf(splits, one).join(", ")})`).join("; ");
    throw new EvowebError("usage", `dataset ${name} ${what}; it has: ${known === "" ? "nothing to read" : known}`);
  };
  if (config !== undefined && !configs.includes(config)) return fail(`has no configuration "${config}"`);
  const having = splits.filter((one) => split === undefined || one.split === split);
  const usual = defaultConfig ?? (configs.length === 1 ? configs[0] : "default");
  const wantedConfig = config ?? (having.some((one) => one.config === usual) ? usual : undefined);
  const candidates = having.filter((one) => wantedConfig === undefined || one.config === wantedConfig);
  if (candidates.length === 0) return fail(`has no split "${split}"${config === undefined ? "" : ` in ${config}`}`);
  if (new Set(candidates.map((one) => one.config)).size > 1) return fail("has several configurations: give --config");
  const [first] = candidates;
  const chosen = candidates.length === 1 ? first : candidates.find((one) => one.split === "test");
  return chosen ?? fail("has several splits: give --split");
}

function splitsOf(splits: readonly Split[], config: string): readonly string[] {
  return splits.filter((one) => one.config === config).map((one) => one.split);
}
