// Prints the line that CI reads: "N passed, N failed, N skipped", summed over vitest's JSON reports in a folder.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
const sums = { passed: 0, failed: 0, skipped: 0 };
const reports = readdirSync(folder).filter((name) => name.endsWith(".json"));
for (const name of reports) {
  const report = JSON.parse(readFileSync(join(folder, name), "utf8"));
  sums.passed += report.numPassedTests;
  sums.failed += report.numFailedTests + report.numFailedTestSuites * (report.numTotalTests === 0 ? 1 : 0);
  sums.skipped += report.numPendingTests + report.numTodoTests;
}
// A version whose tests did not even write a report is a failure, not an absence.
sums.failed += Math.max(0, 3 - reports.length);
console.log(`${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);
process.exitCode = sums.failed === 0 && sums.passed > 0 ? 0 : 1;
