import { openDataset } from "../../src/dataset/open-dataset.ts";

/** The verdicts that the mutants' table predicts for a set, in the form of `notYes`; every row's mutants are in force together. */
export async function mutantChanges(setName: string): Promise<readonly string[]> {
  const { truth, rows } = await openDataset("evoweb-mini");
  const set = truth?.sets.find(({ name }) => name === setName);
  const mutants = truth?.mutants.filter(({ id }) => set?.mutantIds.includes(id)) ?? [];
  return mutants
    .flatMap(({ row, changes }) =>
      changes.map(({ request, check, verdict }) => {
        const sampleIndex = rows.findIndex(({ id }) => id === row) + 1;
        return `${sampleIndex}.${request}.${check} ${verdict}`;
      }),
    )
    .toSorted();
}
