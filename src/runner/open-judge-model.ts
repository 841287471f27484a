import { openCassette } from "../model/cassette.ts";
import { openChatModel, type OpenChatModel } from "../model/open-chat-model.ts";
import type { SpentBefore } from "../model/ledger.ts";
import { readPriceFile } from "../model/prices.ts";
import { EvowebError } from "../errors.ts";
import { readRunFolder } from "../trace/run-folder.ts";
import { createMask } from "../trace/mask.ts";
import type { RunEnvironment } from "./environment.ts";
import type { RunOptions } from "./options.ts";

const PROBE_LIMIT_MS = 10_000;

/** What a judge's model is opened with besides the options. */
export interface JudgeModelContext {
  readonly environment: RunEnvironment;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** What the run took from its budget before this process; see `judgeSpending`. */
  readonly spentBefore?: readonly SpentBefore[];
}

/** What the judge's model took in a run folder so far, by app. */
export function judgeSpending(dir: string): readonly SpentBefore[] {
  const { rows, apps } = readRunFolder(dir);
  return rows.flatMap(({ sampleIndex, row }) => {
    const judge = apps.get(sampleIndex)?.effort.spent.judge;
    if (judge === undefined) return [];
    const { inputTokens, outputTokens, costUsd } = judge;
    return [{ app: row.id, tokens: (inputTokens ?? 0) + (outputTokens ?? 0), usd: costUsd ?? 0 }];
  });
}

/**
 * The model of `--judge-model` with its limits and cassette; null where none is named. Throws `EvowebError("usage")` when the
 * endpoint cannot be reached or refuses the key (not asked while a cassette may answer), or an option fits no other.
 */
export async function openJudgeModel(options: RunOptions, context: JudgeModelContext): Promise<OpenChatModel | null> {
  const { judgeModel: name, cassette, cassetteMode = "auto", priceFile } = options;
  if (name === undefined) {
    const set = (["cassette", "cassetteMode", "priceFile", ...LIMITS] as const).find(
      (key) => options[key] !== undefined,
    );
    if (set === undefined) return null;
    throw new EvowebError("usage", `${set} is about the judge's model, and none is named; add --judge-model NAME`);
  }
  const { environment, say, signal, spentBefore } = context;
  const model = openChatModel({
    name,
    ...environment.judge,
    prices: priceFile === undefined ? undefined : readPriceFile(priceFile),
    limits: {
      tokensPerCheck: options.judgeTokensPerCheck,
      tokensPerApp: options.judgeTokensPerApp,
      tokens: options.judgeTokens,
      usdPerCheck: options.judgeUsdPerCheck,
      usdPerApp: options.judgeUsdPerApp,
      usd: options.judgeUsd,
    },
    spentBefore,
    cassette:
      cassette === undefined
        ? undefined
        : openCassette(cassette, { mode: cassetteMode, mask: createMask(environment.secrets) }),
    listen: (note) => {
      if (note.type === "concurrency" && note.reason !== "start")
        say(`judge's model: ${note.limit} calls at a time (${note.reason})`);
    },
  });
  try {
    if (cassette === undefined || cassetteMode === "record") await model.checkEndpoint(PROBE_LIMIT_MS, signal);
    return model;
  } catch (error) {
    await model[Symbol.asyncDispose]();
    throw error;
  }
}

const LIMITS = [
  "judgeTokensPerCheck",
  "judgeTokensPerApp",
  "judgeTokens",
  "judgeUsdPerCheck",
  "judgeUsdPerApp",
  "judgeUsd",
] as const satisfies readonly (keyof RunOptions)[];
