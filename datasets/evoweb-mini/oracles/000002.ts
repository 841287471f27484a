import { request4, request5 } from "./000002/budget-checks.ts";
import { request8 } from "./000002/csv-checks.ts";
import { request1, request2, request3 } from "./000002/expenses-checks.ts";
import { request10, request9 } from "./000002/role-checks.ts";
import { request6, request7 } from "./000002/settle-checks.ts";
import { Visitor, type App, type Point } from "./000002/visitor.ts";

const own = [request1, request2, request3, request4, request5, request6, request7, request8, request9, request10];

/** Where the backward check of a request was copied from: request and position, as in the row. */
const copied: Readonly<Record<number, readonly [number, number]>> = {
  2: [1, 1],
  3: [1, 4],
  4: [3, 0],
  5: [4, 1],
  6: [2, 2],
  7: [3, 1],
  8: [6, 2],
  9: [7, 1],
  10: [5, 0],
};

/**
 * Decides a check of Hearthbook as a user would: all points met is YES, some PARTIAL, none NO.
 *
 * @param request 1-based; @param index 0-based position of the check.
 */
export async function check(request: number, index: number, app: App): Promise<Point[]> {
  const [from, at] = request > 1 && index === 4 ? (copied[request] ?? [request, index]) : [request, index];
  const run = own[from - 1]?.[at];
  if (run === undefined) throw new RangeError(`app 000002 has no check ${String(index)} of request ${String(request)}`);
  return new Visitor(app).run(run);
}
