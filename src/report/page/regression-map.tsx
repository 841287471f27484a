import type { VNode } from "preact";
import { sayBreak } from "../app-story.ts";
import type { Break, CheckStory } from "../app-story.ts";
import { VerdictBadge, VerdictMark, Wide } from "./layout.tsx";
import type { ReportApp } from "./model.ts";

/** Own checks by the snapshots they were looked at on. */
export function RegressionMap({ app }: { readonly app: ReportApp }): VNode {
  const numbers = app.sampled.row.requests.map(({ number }) => number);
  return (
    <section aria-labelledby="regressions">
      <h2 id="regressions">Checks over the sequence</h2>
      <p class="note">
        A row is a check, named request.check; a column is the app after that request. Only what was looked at has a
        mark.
      </p>
      <Wide label="Checks over the sequence">
        <table class="map">
          <thead>
            <tr>
              <th scope="col">Check</th>
              {numbers.map((number) => (
                <th scope="col">{number}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {app.story.checks.map((story) => (
              <tr>
                <th scope="row">
                  <a href={`#check-${story.request}-${story.check}`}>{nameOf(story)}</a>
                </th>
                {numbers.map((number) => (
                  <td>
                    <Seen story={story} at={number} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}

const nameOf = ({ request, check }: { readonly request: number; readonly check: number }): string =>
  `${request}.${check}`;

function Seen({ story, at }: { readonly story: CheckStory; readonly at: number }): VNode | null {
  const seen = story.sightings.findLast((sighting) => sighting.at === at);
  if (seen === undefined) return null;
  const { verdict, cause } = seen.judged;
  return <VerdictMark verdict={verdict} title={`check ${nameOf(story)} after request ${at}: ${verdict}, ${cause}`} />;
}

function groundOf({ brokenParents }: Break): string {
  if (brokenParents.length === 0) return "root";
  const many = brokenParents.length > 1;
  return `inherited: builds on request${many ? "s" : ""} ${brokenParents.join(", ")}, where checks were broken by then`;
}

/** Every check that is not YES, and the request it broke with. */
export function BreakTable({ app }: { readonly app: ReportApp }): VNode {
  const { breaks } = app.story;
  const { row, sampleIndex } = app.sampled;
  if (breaks.length === 0) return <p>No check that was looked at was broken.</p>;
  return (
    <section aria-labelledby="blame">
      <h2 id="blame">What broke, and when</h2>
      <p class="note">
        From what was looked at. Where that leaves a range,{" "}
        <code>{`evoweb blame RUN --app ${sampleIndex} --check R.C`}</code> looks at the snapshots between.
      </p>
      <Wide label="What broke, and when">
        <table>
          <thead>
            <tr>
              {["Check", "Now", "When", "Ground", "Again YES", "Task"].map((name) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {breaks.map((broken) => (
              <tr>
                <td>
                  <a href={`#check-${broken.request}-${broken.check}`}>{nameOf(broken)}</a>
                </td>
                <td>
                  <VerdictBadge verdict={broken.verdict} />
                </td>
                <td class="text">
                  <a href={`#request-${broken.firstBad}`}>{sayBreak(broken)}</a>
                </td>
                <td class="text">{groundOf(broken)}</td>
                <td>{broken.repairedAt === null ? "no" : `after request ${broken.repairedAt}`}</td>
                <td class="text">{row.requests[broken.request - 1]?.checks[broken.check]?.task ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}
