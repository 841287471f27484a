import { createLogUpdate } from "log-update";
import type { TraceEvent } from "../index.ts";
import { colorsFor } from "./colors.ts";

const pc = colorsFor(process.stderr);

/** Shows a run while it goes on: a live line for each app on a terminal, a plain line for each request elsewhere. */
export interface RunProgress {
  readonly listen: (event: TraceEvent) => void;
  readonly say: (line: string) => void;
  close(): void;
}

interface AppLine {
  request: number;
  doing: string;
  counts: Record<string, number>;
  ownCounts: Record<string, number>;
  down: string;
}

const MARKS = { YES: pc.green("●"), PARTIAL: pc.yellow("◐"), NO: pc.red("○"), MISSING: pc.dim("·") };

export function createProgress(stream: NodeJS.WriteStream): RunProgress {
  const apps = new Map<number, AppLine>();
  const marks = new Map<number, string[]>();
  const live = stream.isTTY ? createLogUpdate(stream) : null;
  const line = (text: string): void => {
    live?.clear();
    stream.write(`${text}\n`);
    render();
  };
  const render = (): void => {
    const open = [...apps].filter(([, app]) => app.doing !== "").toSorted(([a], [b]) => a - b);
    live?.(open.map(([index, app]) => liveLine(index, app, marks.get(index) ?? [])).join("\n"));
  };
  return {
    say: line,
    listen(event) {
      const app = apps.get(event.sampleIndex) ?? { request: 0, doing: "", counts: {}, ownCounts: {}, down: "" };
      apps.set(event.sampleIndex, app);
      update(app, event);
      if (event.type === "request_started") marks.set(event.sampleIndex, []);
      if (event.type === "check_judged") marks.get(event.sampleIndex)?.push(MARKS[event.verdict]);
      if (event.type === "request_finished") line(finishedLine(event, app));
      else if (event.type === "app_finished" && event.status === "stopped") line(stoppedLine(event));
      else render();
    },
    close() {
      live?.clear();
      live?.done();
    },
  };
}

function update(app: AppLine, event: TraceEvent): void {
  switch (event.type) {
    case "app_started":
      app.doing = "opening the workspace";
      return;
    case "request_started":
      Object.assign(app, { request: event.request, doing: "agent at work", ownCounts: {}, down: "" });
      return;
    case "agent_finished":
      app.doing = "storing the snapshot";
      return;
    case "workspace_committed":
      app.doing = "installing and starting";
      return;
    case "app_up":
      app.doing = "judging";
      return;
    case "app_down":
      app.down = String(event.class);
      return;
    case "check_judged":
      app.request = event.request;
      app.counts[event.verdict] = (app.counts[event.verdict] ?? 0) + 1;
      app.ownCounts[event.verdict] = (app.ownCounts[event.verdict] ?? 0) + 1;
      return;
    case "request_finished":
      app.doing = "next request";
      return;
    case "app_finished":
      app.doing = "";
      return;
  }
}

const appName = (index: number): string => `app ${String(index).padStart(2)}`;
const requestName = (request: number): string => `request ${String(request).padStart(2)}`;

function liveLine(index: number, app: AppLine, marks: readonly string[]): string {
  return `${pc.bold(appName(index))}  ${requestName(app.request)}  ${marks.join("")} ${pc.dim(app.doing)}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return (["YES", "PARTIAL", "NO", "MISSING"] as const)
    .flatMap((verdict) => (counts[verdict] === undefined ? [] : [`${counts[verdict]} ${verdict}`]))
    .join(", ");
}

function finishedLine(event: TraceEvent & { type: "request_finished" }, app: AppLine): string {
  const seconds = `${((event.durationMs ?? 0) / 1000).toFixed(1)} s`;
  const isClean = Object.keys(app.ownCounts).every((verdict) => verdict === "YES");
  const mark = isClean ? pc.green("✓") : pc.yellow("!");
  const down = app.down === "" ? "" : pc.red(`  app down: ${app.down}`);
  const text = `${mark} ${appName(event.sampleIndex)}  ${requestName(event.request)}  ${countsText(app.ownCounts)}`;
  return `${text}${down}  ${pc.dim(seconds)}`;
}

function stoppedLine(event: TraceEvent & { type: "app_finished" }): string {
  return pc.red(`✗ ${appName(event.sampleIndex)}  stopped: ${event.cause ?? "unknown"}`);
}
