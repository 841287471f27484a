import type { Observation } from "../trace/observations.ts";
import type { RunFolder } from "../trace/run-folder.ts";
import { markdownTable } from "./score-tables.ts";

const CATEGORIES = [
  "Content Presentation",
  "User Interaction",
  "Data Management",
  "Functional Testing",
  "Data Display Testing",
  "Design Validation Testing",
] as const;

interface Tally {
  yes: number;
  partial: number;
  no: number;
  startFailed: number;
}

const newTally = (): Tally => ({ yes: 0, partial: 0, no: 0, startFailed: 0 });
const NAMES = { YES: "yes", PARTIAL: "partial", NO: "no", MISSING: "startFailed" } as const;
const totalOf = ({ yes, partial, no, startFailed }: Tally): number => yes + partial + no + startFailed;
const percent = (part: number, total: number): string => (total === 0 ? "n/a" : ((100 * part) / total).toFixed(1));
const accuracy = (tally: Tally): string => percent(tally.yes + 0.5 * tally.partial, totalOf(tally));

/** The published class of a check: by the published rule where it was applied, else by its verdict. */
function classOf(seen: Observation | undefined): keyof Tally {
  if (seen === undefined || seen.cause === "app_down") return "startFailed";
  return NAMES[seen.rules?.["legacy"] ?? seen.verdict];
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function addRow(
  tallies: ReadonlyMap<string, Tally>,
  { raw, seen }: { raw: unknown; seen: Observation | undefined },
  app: unknown,
): void {
  const name = classOf(seen);
  const own = field(field(raw, "task_category"), "primary_category");
  for (const category of ["", field(field(app, "Category"), "primary_category"), own]) {
    const tally = typeof category === "string" ? tallies.get(category) : undefined;
    if (tally !== undefined) tally[name] += 1;
  }
}

/** The table of WebGen-Bench's own scoring (`table.md`): counts, rates, and accuracy in all and by category, one decimal. */
export function webgenTable({ run, rows, apps }: RunFolder): Iterable<string> {
  const tallies = new Map(["", ...CATEGORIES].map((name) => [name, newTally()] as const));
  for (const { sampleIndex, row } of rows) {
    const followUps = field(row.raw, "follow_ups");
    const raws: readonly unknown[] = [row.raw, ...(Array.isArray(followUps) ? (followUps as unknown[]) : [])];
    for (const { number, checks } of row.requests) {
      const rawChecks = field(raws[number - 1], "ui_instruct");
      const seen = apps.get(sampleIndex)?.observations.requests.get(number)?.checks;
      for (const check of checks.keys()) {
        const raw: unknown = Array.isArray(rawChecks) ? rawChecks[check] : undefined;
        addRow(tallies, { raw, seen: seen?.get(check) }, row.raw);
      }
    }
  }
  const all = tallies.get("") ?? newTally();
  const counts = [all.yes, all.partial, all.no, all.startFailed];
  const names = ["yes", "partial", "no", "start_failed"];
  const total = totalOf(all);
  return markdownTable([
    ["test_name", ...names, "total", ...names.map((name) => `${name}_rate`), "accuracy", ...CATEGORIES],
    [
      run.provenance.agent.name ?? run.runId,
      ...counts.map(String),
      String(total),
      ...counts.map((count) => percent(count, total)),
      accuracy(all),
      ...CATEGORIES.map((name) => accuracy(tallies.get(name) ?? newTally())),
    ],
  ]);
}
