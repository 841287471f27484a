import { request1, request2, request3, type Script } from "./000001/requests-1-3.ts";
import { request4, request5 } from "./000001/requests-4-5.ts";
import { request6 } from "./000001/request-6.ts";
import { request7, request8 } from "./000001/requests-7-8.ts";
import { request10, request9 } from "./000001/requests-9-10.ts";
import { Stuck, Visit, type App, type Point } from "./000001/visit.ts";

const own = [request1, request2, request3, request4, request5, request6, request7, request8, request9, request10];

/** Backward checks: the request and check that request 2, 3, ... looks at again. */
const copied: readonly (readonly [request: number, check: number])[] = [
  [1, 3],
  [2, 1],
  [1, 4],
  [3, 1],
  [4, 0],
  [5, 1],
  [2, 0],
  [7, 0],
  [6, 1],
];

/** Decides check `index` (from 0) of `request` (from 1) as a user of the desk would. */
export async function check(request: number, index: number, app: App): Promise<Point[]> {
  const visit = new Visit(app);
  try {
    await visit.enter();
    await scriptOf(request, index)(visit);
  } catch (error) {
    // Where a user cannot go on, the points so far and the step that failed are the answer.
    if (!(error instanceof Stuck)) throw error;
  }
  return visit.points;
}

function scriptOf(request: number, index: number): Script {
  const [from, at] = request > 1 && index === 4 ? (copied[request - 2] ?? [0, 0]) : [request, index];
  const script = own[from - 1]?.[at];
  if (script === undefined) throw new Error(`app 000001 has no check ${String(index)} of request ${String(request)}`);
  return script;
}
