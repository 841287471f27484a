import { expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { CanaryWatch } from "../../src/runner/canaries.ts";

const { rows } = await openDataset("evoweb-mini");
const [row] = rows;
if (row === undefined) throw new Error("evoweb-mini has no rows");

function watch(request: number): CanaryWatch {
  const canaries = new CanaryWatch({
    row: row as NonNullable<typeof row>,
    judgePaths: ["/runs/secret-run"],
    preamble: "",
  });
  canaries.begin(request);
  return canaries;
}
const body = (content: string): string => JSON.stringify({ messages: [{ role: "user", content }] });

test("requests up to now are no canaries, later ones and checks are, also inside a body and in other letters", () => {
  const [first, second] = row.requests;
  const canaries = watch(1);
  canaries.lookAtBody(body(first?.instruction ?? ""));
  expect(canaries.result(true)).toEqual({ canaryHits: 0, judgeFilesSeen: [], verdict: "clean" });
  expect(canaries.result(false).verdict).toBe("unknown");
  canaries.lookAtBody(body(`note: ${second?.instruction.toUpperCase()}`));
  expect(canaries.result(true).canaryHits).toBeGreaterThan(0);
  expect(canaries.result(true).verdict).toBe("touched");
  const later = watch(2);
  later.lookAtBody(body(second?.instruction ?? ""));
  expect(later.result(true).verdict).toBe("clean");
  later.look(`${first?.checks[0]?.task} ${first?.checks[0]?.expectedResult}`);
  expect(later.result(false).verdict).toBe("touched");
});

test("a path of the judge's files is seen", () => {
  const canaries = watch(1);
  canaries.look("cat /runs/secret-run/rows.jsonl");
  expect(canaries.result(true)).toEqual({ canaryHits: 0, judgeFilesSeen: ["/runs/secret-run"], verdict: "touched" });
});
