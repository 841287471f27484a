import type { FlatLine } from "../trace/flat-verdicts.ts";
import type { AppObservations, Observation } from "../trace/observations.ts";
import type { RunFolder } from "../trace/run-folder.ts";

type FlatCheck = Extract<FlatLine, { type: "check" | "sweep" }>;

function toCheck(place: Pick<FlatCheck, "type" | "sampleIndex" | "request" | "check">, seen: Observation): FlatCheck {
  const { verdict, cause, class: name, rules } = seen;
  return {
    ...place,
    verdict,
    cause,
    ...(name === undefined ? {} : { class: name }),
    ...(rules === undefined ? {} : { rules: { ...rules } }),
  };
}

function* appLines({ sampleIndex, requests, sweep }: AppObservations): Generator<FlatLine> {
  for (const [request, { responded, up, state, checks }] of requests) {
    yield { type: "request", sampleIndex, request, responded, up, state };
    for (const [check, seen] of checks) yield toCheck({ type: "check", sampleIndex, request, check }, seen);
  }
  for (const [request, checks] of sweep ?? []) {
    for (const [check, seen] of checks) yield toCheck({ type: "sweep", sampleIndex, request, check }, seen);
  }
}

/** Everything that counts of a run as flat verdicts, which score as the run does. */
export function* flatLines({ run, rows, apps }: RunFolder): Generator<FlatLine> {
  const { isolation, observation } = run;
  yield { type: "run", planned: rows.map(({ sampleIndex }) => sampleIndex), isolation, observation };
  for (const { sampleIndex } of rows) {
    const app = apps.get(sampleIndex);
    if (app !== undefined) yield* appLines(app.observations);
  }
}
