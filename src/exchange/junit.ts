import type { Observation } from "../trace/observations.ts";
import type { RunFolder } from "../trace/run-folder.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text for an XML attribute; what XML 1.0 cannot hold, such as control characters, becomes U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll(/[&<>"]/gu, (sign) => ENTITIES[sign] ?? sign)
    .replaceAll(/[\t\n\r]/gu, (sign) => `&#${sign.codePointAt(0) ?? 32};`);
}

function outcome({ verdict, cause, class: name }: Observation): string {
  const message = `message="${escapeXml([verdict, cause, name].filter((part) => part !== undefined).join(" "))}"`;
  if (verdict === "YES") return "";
  return verdict === "MISSING" ? `<skipped ${message}/>` : `<failure ${message}/>`;
}

/** A run as JUnit XML: a suite for each app, a case for each check; NO and PARTIAL are failures, MISSING is skipped. */
export function* junitXml({ rows, apps }: RunFolder): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="evoweb">\n';
  for (const { sampleIndex, row } of rows) {
    const requests = apps.get(sampleIndex)?.observations.requests;
    const cases: string[] = [];
    const counts = { YES: 0, PARTIAL: 0, NO: 0, MISSING: 0 };
    for (const { number, checks } of row.requests) {
      for (const [check, { task }] of checks.entries()) {
        const seen = requests?.get(number)?.checks.get(check) ?? { verdict: "MISSING", cause: "not_reached" };
        counts[seen.verdict] += 1;
        const name = escapeXml(`${check + 1}. ${task}`);
        const where = escapeXml(`${row.id}.request-${number}`);
        cases.push(`    <testcase classname="${where}" name="${name}">${outcome(seen)}</testcase>\n`);
      }
    }
    const totals = `tests="${cases.length}" failures="${counts.NO + counts.PARTIAL}" skipped="${counts.MISSING}"`;
    yield `  <testsuite name="${escapeXml(`app ${sampleIndex} ${row.id}`)}" ${totals}>\n`;
    yield cases.join("");
    yield "  </testsuite>\n";
  }
  yield "</testsuites>\n";
}
