import type { CheckRole, Mutant, SampledRow } from "../../dataset/row.ts";
import { EvowebError } from "../../errors.ts";
import type { TrueVerdict } from "../../scoring/judge-errors.ts";
import { SEED, seededDraw } from "../../scoring/statistics/random.ts";

/** One check on one tree, with the verdict that is right. */
export interface Question {
  readonly sampleIndex: number;
  readonly rowId: string;
  /** What is served: "solution" or the id of a mutant. */
  readonly spec: string;
  /** The mutant's kind; "solution" for the solution. */
  readonly kind: string;
  /** 1-based; the tree is the one after this request. */
  readonly request: number;
  /** 0-based. */
  readonly check: number;
  readonly role: CheckRole;
  /** Null where the row does not say. */
  readonly archetype: string | null;
  readonly truth: TrueVerdict;
}

/** What is asked. */
export interface QuestionChoice {
  readonly apps: readonly SampledRow[];
  readonly mutants: readonly Mutant[];
  /** 1-based requests; null: all. */
  readonly requests: ReadonlySet<number> | null;
  /** Ids of mutants, in any order; absent: all of the apps. An empty list leaves only the solution. */
  readonly mutantIds?: readonly string[];
  /** At most so many, half of them YES where there are as many; absent: all. */
  readonly checks?: number;
}

/**
 * The checks whose truth a data set knows: all of the solution (YES), and those that a mutant changes. Sampled with a fixed seed.
 *
 * @throws EvowebError `usage` for a mutant that none of the apps has, or when nothing is left to ask.
 */
export function planQuestions({ apps, mutants, requests, mutantIds, checks }: QuestionChoice): readonly Question[] {
  const ids = new Set(apps.map(({ row }) => row.id));
  const known = mutants.filter(({ row }) => ids.has(row));
  const unknown = mutantIds?.find((id) => !known.some((mutant) => mutant.id === id));
  if (unknown !== undefined) {
    throw new EvowebError(
      "usage",
      `no mutant of these apps is called "${unknown}"; there is: ${known.map(({ id }) => id).join(", ")}`,
    );
  }
  const chosen = known.filter(({ id }) => mutantIds?.includes(id) !== false);
  const all = apps.flatMap((app) => [
    ...questionsOf(app, { spec: "solution", kind: "solution" }, () => "YES"),
    ...chosen
      .filter(({ row }) => row === app.row.id)
      .flatMap(({ id, kind, changes }) =>
        questionsOf(app, { spec: id, kind }, (request, check) => {
          const change = changes.find((candidate) => candidate.request === request && candidate.check === check);
          return change === undefined || change.verdict === "YES" ? null : change.verdict;
        }),
      ),
  ]);
  const wanted = all.filter(({ request }) => requests?.has(request) !== false);
  if (wanted.length === 0)
    throw new EvowebError("usage", "no check is left to ask; choose other apps, requests or mutants");
  return checks === undefined ? wanted : sample(wanted, checks);
}

type Served = Pick<Question, "spec" | "kind">;
type Truth = (request: number, check: number) => TrueVerdict | null;

function questionsOf({ sampleIndex, row }: SampledRow, { spec, kind }: Served, truthOf: Truth): Question[] {
  return row.requests.flatMap(({ number: request, archetype = null, checks }) =>
    checks.flatMap(({ role }, check) => {
      const truth = truthOf(request, check);
      return truth === null ? [] : [{ sampleIndex, rowId: row.id, spec, kind, request, check, role, archetype, truth }];
    }),
  );
}

/** Half YES and half not, where there are as many; the order of the plan is kept. */
function sample(all: readonly Question[], count: number): readonly Question[] {
  const yes = shuffle(all.filter(({ truth }) => truth === "YES"));
  const other = shuffle(all.filter(({ truth }) => truth !== "YES"));
  const otherCount = Math.min(other.length, Math.max(Math.floor(count / 2), count - yes.length));
  const chosen = new Set([...other.slice(0, otherCount), ...yes.slice(0, count - otherCount)]);
  return all.filter((question) => chosen.has(question));
}

function shuffle<T>(items: readonly T[]): readonly T[] {
  const draw = seededDraw(SEED);
  return items
    .map((item) => ({ item, place: draw(2 ** 32) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
