import { z } from "zod";

/** What a check is for, decided by its position: 0-2 functional, 3 integration, 4 backward; request 1 has only functional ones. */
export type CheckRole = "functional" | "integration" | "backward";

/** One check of a request: something to do in the browser and what must then be seen. */
export interface Check {
  /** What to do, in a user's words. */
  readonly task: string;
  /** What must be seen for the verdict YES. */
  readonly expectedResult: string;
  /** The check's role, by position. */
  readonly role: CheckRole;
  /** The data set's own word for the check's kind, kept as written; absent for request 1. */
  readonly kind?: string;
  /** 1-based number of the earlier request this check was copied from; only backward checks have it. */
  readonly copiedFromRequest?: number;
  /** True when a later request legitimately changed the expected result: later re-observations do not count. */
  readonly superseded?: boolean;
}

/** One request of a row: the text the agent gets, and the checks it never sees. */
export interface ChangeRequest {
  /** 1-based position in the row. */
  readonly number: number;
  /** Text given to the agent, byte for byte as in the row. */
  readonly instruction: string;
  /** Short name of the request from the dependency graph, for people; absent when the graph has none. */
  readonly label?: string;
  /** Archetype of a follow-up, kept as written; absent for request 1 where the graph does not name one. */
  readonly archetype?: string;
  /** Checks in the row's order; an empty list is a validation fault, yet the row loads. */
  readonly checks: readonly Check[];
}

/** A dependency between two requests of a row: `to` builds on `from`. */
export interface Dependency {
  /** 1-based number of the earlier request. */
  readonly from: number;
  /** 1-based number of the later request; always greater than `from`. */
  readonly to: number;
  /** What is depended on, in the data set's words. */
  readonly what: string;
}

/** A rule every later request has to respect. */
export interface GlobalRule {
  readonly rule: string;
  /** 1-based number of the request that introduced it. */
  readonly introducedInRequest: number;
}

/** The records that request `introducedInRequest` asks the app to start with. */
export interface PinnedSeed {
  readonly entity: string;
  readonly introducedInRequest: number;
  readonly recordsGist: string;
  /** The records as data, where the row has them. */
  readonly records?: unknown;
}

/** One app: a first build request and its follow-ups, validated; nothing unvalidated leaves `src/dataset/`. */
export interface Row {
  /** Zero-padded id of the data set, such as "000001"; not the sample index. */
  readonly id: string;
  /** Requests 1..N in order. */
  readonly requests: readonly ChangeRequest[];
  /** Edges of the dependency graph; empty when the row has none. */
  readonly dependencies: readonly Dependency[];
  readonly globalRules: readonly GlobalRule[];
  readonly pinnedSeed?: PinnedSeed;
  /** The raw row as read (JSON-string fields parsed), for `rows.jsonl` of a run folder and for hashing. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A row with the 1-based position it has in the file the run used; never re-sorted or renumbered. */
export interface SampledRow {
  readonly sampleIndex: number;
  readonly row: Row;
}

/** One entry of `datasets/NAME/mutants.json`: a known-broken variant of the solution. */
export const Mutant = z.object({
  /** Unique in the file, such as "000001-silent-save". */
  id: z.string(),
  /** Row the mutant belongs to. */
  row: z.string(),
  /** Kind of fault, for grouping. */
  kind: z.string(),
  /** First solution snapshot (1-based) the edits are applied on. */
  enters: z.int().min(1),
  /** First later snapshot the edits are no longer applied on; absent: never leaves. */
  leaves: z.int().min(2).optional(),
  /** Replacements; `find` must occur exactly once in `file` on every snapshot in range. */
  edits: z.array(z.object({ file: z.string(), find: z.string().min(1), replace: z.string() })).min(1),
  /** Every check whose verdict differs from YES under this mutant, and the verdict it gets. */
  changes: z.array(
    z.object({ request: z.int().min(1), check: z.int().min(0), verdict: z.enum(["YES", "PARTIAL", "NO"]) }),
  ),
});
export type Mutant = z.infer<typeof Mutant>;
