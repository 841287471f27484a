import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { sayBreak, tellApp } from "../../src/report/app-story.ts";
import { readTrace } from "../../src/trace/reader.ts";
import { appDirName, readRunFolder } from "../../src/trace/run-folder.ts";
import { makeEvent, ranRequest, tinyRows } from "../trace/sample-events.ts";
import { five } from "./run-fixture.ts";

const golden = fileURLToPath(new URL("../../traces/forgetful", import.meta.url));

test("every mutant of the forgetful run is among the requests that a break is blamed on, and was first seen where it shows", async () => {
  const { truth, rows } = await openDataset("evoweb-mini");
  const set = truth?.sets.find(({ name }) => name === "forgetful");
  const mutants = truth?.mutants.filter(({ id }) => set?.mutantIds.includes(id)) ?? [];
  expect(mutants.length).toBeGreaterThan(5);
  const folder = readRunFolder(golden);
  const stories = folder.rows.map((sampled) => {
    const { sampleIndex } = sampled;
    return tellApp(sampled, readTrace(join(golden, appDirName(sampleIndex), "trace.jsonl"), sampleIndex).events);
  });
  const blamed = mutants.map(({ id, row, enters }) => {
    const breaks = stories[rows.findIndex((candidate) => candidate.id === row)]?.breaks ?? [];
    const isFound = breaks.some(({ suspects: [first, last] }) => first <= enters && last === enters);
    return [id, isFound];
  });
  expect(blamed).toEqual(mutants.map(({ id }) => [id, true]));
});

test("a break is dated between the last YES and the first other verdict, with MISSING as no sight at all", () => {
  const [sampled] = tinyRows(1, 4);
  if (sampled === undefined) throw new Error("no row");
  // Check 4 of each request looks again at check 0 of the request before.
  const facts = [
    ...ranRequest(1, five("YES")),
    ...ranRequest(2, ["YES", "YES", "YES", "YES", "NO"]),
    ...ranRequest(3, ["YES", "NO", "YES", "YES", "MISSING"]),
    ...ranRequest(4, five("YES")),
  ];
  const { breaks } = tellApp(
    sampled,
    facts.map((fact) => makeEvent(fact)),
  );
  expect(breaks.map((found) => [`${found.request}.${found.check}`, sayBreak(found)])).toEqual([
    ["1.0", "broken by request 2"],
    ["3.1", "failed from the start, at request 3"],
  ]);
});
