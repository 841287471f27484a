// Prints what failed, with its first lines, then the line that CI reads: "N passed, N failed, N skipped", summed over
// vitest's JSON reports in a folder. Last in the log, because a log that is cut keeps its end.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SHOWN_LINES = 12;
const [folder] = process.argv.slice(2);
const sums = { passed: 0, failed: 0, skipped: 0 };
const reports = readdirSync(folder).filter((name) => name.endsWith(".json"));
for (const name of reports) {
  const report = JSON.parse(readFileSync(join(folder, name), "utf8"));
  sums.passed += report.numPassedTests;
  sums.failed += report.numFailedTests;
  sums.skipped += report.numPendingTests + report.numTodoTests;
  for (const file of report.testResults) {
    const failed = file.assertionResults.filter((test) => test.status === "failed");
    for (const test of failed) show(`${name} ${file.name}`, test.fullName, test.failureMessages.join("\n"));
    // A file that broke outside its tests (an import, a hook) counts as one failure: its tests did not run.
    if (file.status === "failed" && failed.length === 0) {
      sums.failed += 1;
      show(`${name} ${file.name}`, "(the file itself)", file.message);
    }
  }
}
// A version whose tests did not even write a report is a failure, not an absence.
sums.failed += Math.max(0, 3 - reports.length);
console.log(`${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);
process.exitCode = sums.failed === 0 && sums.passed > 0 ? 0 : 1;

function show(where, test, message) {
  const lines = message.split("\n").slice(0, SHOWN_LINES);
  console.log([`FAILED ${where}`, `  ${test}`, ...lines.map((line) => `    ${line}`), ""].join("\n"));
}
