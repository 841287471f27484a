import { canonicalJson, rowHash } from "../dataset/content-hash.ts";
import type { Mismatch } from "../report/comparison.ts";
import type { ScoredSource } from "../report/score-source.ts";

/** A side as it is called, and one of its sources; its repeats agree with it. */
interface NamedSource {
  readonly name: string;
  readonly source: ScoredSource;
}

type Two = readonly [NamedSource, NamedSource];
type Run = NonNullable<ScoredSource["run"]>;

const LIMIT = /Ms$|^max|Max|Limit|^(?:memoryMb|cpus|pids|requests)$/;

/** The options that bound what an agent, an app or a judge may use. */
function limitsOf({ options }: Run): Map<string, string> {
  return new Map(
    Object.entries(options)
      // When a run was stopped says nothing about what its apps were given.
      .filter(([name]) => LIMIT.test(name) && name !== "deadlineMs")
      .map(([name, value]) => [name, canonicalJson(value)]),
  );
}

function differingLimits(a: Run, b: Run): string[] {
  const [ofA, ofB] = [limitsOf(a), limitsOf(b)];
  const names = [...new Set([...ofA.keys(), ...ofB.keys()])].sort();
  return names
    .filter((name) => ofA.get(name) !== ofB.get(name))
    .map((name) => `${name} ${ofA.get(name) ?? "unset"} and ${ofB.get(name) ?? "unset"}`);
}

const judgeOf = ({ provenance: { judge } }: Run): string =>
  judge === null ? "none" : `${judge.name} (${judge.hash.slice(0, 12)})`;

const sandboxOf = ({ options }: Run): string => canonicalJson(options["sandbox"] ?? "unknown");

function differ(kind: Mismatch["kind"], [a, b]: Two, [one, other]: readonly [string, string]): Mismatch[] {
  if (one === other) return [];
  return [{ kind, isFatal: kind !== "sandbox", text: `${kind} differs: ${a.name} has ${one}, ${b.name} has ${other}` }];
}

/** Rows of the same number must be the same row; rows of one side only are left out. */
function compareRows([a, b]: Two): Mismatch[] {
  const hashes = new Map(a.source.rows.map(({ sampleIndex, row }) => [sampleIndex, rowHash(row)]));
  const shared = b.source.rows.filter(({ sampleIndex }) => hashes.has(sampleIndex));
  const changed = shared.filter(({ sampleIndex, row }) => hashes.get(sampleIndex) !== rowHash(row));
  if (changed.length > 0 || shared.length === 0) {
    const apps = changed.map(({ sampleIndex }) => sampleIndex).join(", ");
    const how = shared.length === 0 ? "they share no app" : `app ${apps} is another row`;
    return [{ kind: "dataset", isFatal: true, text: `dataset differs between ${a.name} and ${b.name}: ${how}` }];
  }
  const alone = a.source.rows.length + b.source.rows.length - 2 * shared.length;
  if (alone === 0) return [];
  const text = `${a.name} and ${b.name} share ${shared.length} apps; ${alone} that only one of them has are left out`;
  return [{ kind: "apps", isFatal: false, text }];
}

function compareRuns(two: Two, a: Run, b: Run): Mismatch[] {
  const limits = differingLimits(a, b);
  const text = `limits differ between ${two[0].name} and ${two[1].name}: ${limits.join("; ")}`;
  return [
    ...differ("suite", two, [`${a.suite.name} ${a.suite.version}`, `${b.suite.name} ${b.suite.version}`]),
    ...differ("judge", two, [judgeOf(a), judgeOf(b)]),
    ...(limits.length === 0 ? [] : [{ kind: "limits" as const, isFatal: true, text }]),
    ...differ("sandbox", two, [sandboxOf(a), sandboxOf(b)]),
  ];
}

function compareProvenance(two: Two): Mismatch[] {
  const [a, b] = [two[0].source.run, two[1].source.run];
  if (a !== null && b !== null) return compareRuns(two, a, b);
  const silent = two.filter(({ source }) => source.run === null).map(({ name }) => name);
  const text = `${silent.join(" and ")}: judge, limits and sandbox are unknown, so nobody can say whether they differ`;
  return [{ kind: "unknown", isFatal: false, text }];
}

/** Everything in which two sides differ that should be the same. */
export function findMismatches(two: Two): Mismatch[] {
  const [a, b] = [two[0].source.score, two[1].source.score];
  return [
    ...compareRows(two),
    ...differ("definition", two, [a.definition, b.definition]),
    ...(a.run.isolation === null || b.run.isolation === null
      ? []
      : differ("isolation", two, [a.run.isolation, b.run.isolation])),
    ...differ("observation", two, [a.run.observation, b.run.observation]),
    ...compareProvenance(two),
  ];
}
