import type { VNode } from "preact";
import { findSource } from "../../dataset/match-check.ts";
import type { Check } from "../../dataset/row.ts";
import { appDirName } from "../../trace/run-folder.ts";
import type { Judged, RequestStory } from "../app-story.ts";
import { formatCount, formatDuration } from "../format.ts";
import { Facts, VerdictBadge } from "./layout.tsx";
import { imagesOf } from "./model.ts";
import type { ReportApp, ReportRun } from "./model.ts";

/** What a request's part of the page is made from. */
export interface RequestPart {
  readonly run: ReportRun;
  readonly app: ReportApp;
  readonly story: RequestStory;
}

/** Name of the file with what is loaded on demand, without its ending. */
export function detailName(sampleIndex: number, request: number): string {
  return `${appDirName(sampleIndex)}-request-${String(request).padStart(2, "0")}`;
}

function turnFacts({ agent, snapshot, up, down }: RequestStory): (readonly [string, string])[] {
  return [
    ...(agent === null ? [["Agent", "no turn"] as const] : agentFacts(agent)),
    ["Files after it", formatCount(snapshot?.files ?? null)],
    ["App", appText(up, down)],
  ];
}

function agentFacts(agent: NonNullable<RequestStory["agent"]>): (readonly [string, string])[] {
  const { usage, costUsd, durationMs, limit } = agent;
  return [
    ["Agent", `${agent.outcome ?? agent.status}${agent.responded === false ? ", no answer" : ""}`],
    ["Time", durationMs === null ? "unknown" : formatDuration(durationMs)],
    ["Cost", costUsd === null ? "unknown" : `$${costUsd.toFixed(4)}`],
    ["Tokens in, out", `${formatCount(usage?.inputTokens ?? null)}, ${formatCount(usage?.outputTokens ?? null)}`],
    ["Model calls", formatCount(usage?.calls ?? null)],
    ...(limit === undefined ? [] : [["Limit", `${limit.clock} ${limit.value} of ${limit.max}`] as const]),
  ];
}

function appText(up: RequestStory["up"], down: RequestStory["down"]): string {
  if (up !== null)
    return up.startMs === null ? "up" : `up in ${formatDuration(up.startMs)}, HTTP ${up.status ?? "unknown"}`;
  return down === null ? "not started" : `down: ${down.class ?? "unknown"}`;
}

/** One request: what was asked, what the agent did, what was seen. */
export function RequestSection({ run, app, story }: RequestPart): VNode | null {
  const { row, sampleIndex } = app.sampled;
  const { number } = story;
  const request = row.requests[number - 1];
  if (request === undefined) return null;
  const passed = [...story.checks.values()].filter(({ verdict }) => verdict === "YES").length;
  const all = request.checks.length;
  return (
    <details class="request" id={`request-${number}`} data-detail={detailName(sampleIndex, number)}>
      <summary>
        <h3>{`Request ${number}: ${request.label ?? request.archetype ?? "first build"}`}</h3>
        <span class={`badge ${passed < all ? "partial" : "yes"}`}>{`${passed} of ${all} YES`}</span>
      </summary>
      <h4>Instruction</h4>
      <p class="instruction">{request.instruction}</p>
      <h4>Turn</h4>
      <Facts facts={turnFacts(story)} />
      {story.down === null ? null : <pre tabIndex={0}>{JSON.stringify(story.down.evidence, undefined, 2)}</pre>}
      <h4>What the agent changed</h4>
      <div data-slot="diff">Opens with this request.</div>
      <h4>Logs</h4>
      <div data-slot="logs">Opens with this request.</div>
      <h4>Checks</h4>
      {request.checks.map((check, index) => (
        <CheckPart part={{ run, app, story }} check={check} index={index} />
      ))}
    </details>
  );
}

/** The own check that a check observes: itself, or for a backward check its source. */
function ownOf(
  { app, story }: RequestPart,
  check: Check,
  index: number,
): { request: number; check: number } | undefined {
  if (check.role !== "backward") return { request: story.number, check: index };
  return findSource(app.sampled.row, check);
}

/** The newest earlier sighting with YES of what a check observes. */
function lastGood(part: RequestPart, check: Check, index: number): { at: number; judged: Judged } | undefined {
  const own = ownOf(part, check, index);
  const found = part.app.story.checks.find((story) => story.request === own?.request && story.check === own.check);
  return found?.sightings.findLast(({ at, judged }) => at < part.story.number && judged.verdict === "YES");
}

interface CheckProps {
  readonly part: RequestPart;
  readonly check: Check;
  readonly index: number;
}

function CheckPart({ part, check, index }: CheckProps): VNode {
  const { story } = part;
  const judged = story.checks.get(index);
  const verdict = judged?.verdict ?? "MISSING";
  const own = ownOf(part, check, index);
  const copied = check.role === "backward" && own !== undefined ? `, looks again at ${own.request}.${own.check}` : "";
  return (
    <details class="check" id={`check-${story.number}-${index}`} open={verdict !== "YES"}>
      <summary>
        <VerdictBadge verdict={verdict} />
        <span>{`${story.number}.${index} ${check.role}${copied}: ${check.task}`}</span>
      </summary>
      <p>
        <b>Expected:</b> {check.expectedResult}
      </p>
      <p class="note">{causeText(judged)}</p>
      <div data-slot={`check-${index}`} />
      <Screens part={part} judged={judged} before={lastGood(part, check, index)} />
    </details>
  );
}

function causeText(judged: Judged | undefined): string {
  if (judged === undefined) return "Not judged.";
  const { cause, tries, durationMs, judge } = judged;
  const parts = [
    `cause ${cause}`,
    judged.class === undefined ? "" : `class ${judged.class}`,
    `${tries} ${tries === 1 ? "try" : "tries"}`,
  ];
  return [
    ...parts,
    durationMs === null ? "" : formatDuration(durationMs),
    judge === undefined ? "" : `judge ${judge.name}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

interface ScreensProps {
  readonly part: RequestPart;
  readonly judged: Judged | undefined;
  readonly before: { readonly at: number; readonly judged: Judged } | undefined;
}

function Screens({ part, judged, before }: ScreensProps): VNode | null {
  const { images } = part.run;
  const now = judged === undefined ? [] : imagesOf(judged, images);
  const good = before === undefined ? undefined : imagesOf(before.judged, images).at(-1);
  if (now.length === 0 && good === undefined) return null;
  const shots = [
    ...(good === undefined ? [] : [{ file: good, text: `Last YES, after request ${before?.at}` }]),
    ...now.map((file, index) => ({
      file,
      text: `After request ${part.story.number}${now.length > 1 ? `, picture ${index + 1} of ${now.length}` : ""}`,
    })),
  ];
  return (
    <div class="screens">
      {shots.map(({ file, text }) => (
        <figure>
          <a href={`images/${file}`}>
            <img src={`images/${file}`} alt={`Page: ${text}`} loading="lazy" width={640} height={400} />
          </a>
          <figcaption>{text}</figcaption>
        </figure>
      ))}
    </div>
  );
}
