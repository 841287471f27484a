export { EvowebError, messageOf } from "./errors.ts";
export type { EvowebErrorCode } from "./errors.ts";
export { contentHashOf, rowHash } from "./dataset/content-hash.ts";
export type { FileTree, TreeFile } from "./dataset/file-tree.ts";
export { findingText } from "./dataset/finding.ts";
export type { Finding, LocatedFinding, Severity } from "./dataset/finding.ts";
export type { GroundTruth } from "./dataset/ground-truth.ts";
export type { MutantSet } from "./dataset/mutants.ts";
export { openDataset, validateDataset } from "./dataset/open-dataset.ts";
export type { Dataset, DatasetReport, OpenOptions } from "./dataset/open-dataset.ts";
export type { HubAccess } from "./dataset/hub/hub-access.ts";
export { pullDataset } from "./dataset/pull-dataset.ts";
export type { PulledDataset } from "./dataset/pull-dataset.ts";
export { parseRow } from "./dataset/parse-row.ts";
export { readRows } from "./dataset/read-rows.ts";
export { selectApps } from "./dataset/select-apps.ts";
export { scoreTranscript } from "./dataset/webvoyager-transcript.ts";
export type { TranscriptMessage, TranscriptScore } from "./dataset/webvoyager-transcript.ts";
export type {
  ChangeRequest,
  Check,
  CheckRole,
  Dependency,
  GlobalRule,
  Mutant,
  PinnedSeed,
  Row,
  SampledRow,
} from "./dataset/row.ts";
export { buildRequestGraph, toMermaid } from "./graph/request-graph.ts";
export type { RequestEdge, RequestGraph } from "./graph/request-graph.ts";
export { openBrowserPool } from "./judge/browser-pool.ts";
export type { BrowserInfo, BrowserPool, BrowserPoolOptions } from "./judge/browser-pool.ts";
export type { BrowserSession, PageNote, SessionEnd, SessionTarget } from "./judge/browser-session.ts";
export { findChromium, installChromium } from "./judge/chromium.ts";
export type { Chromium, FindChromiumOptions } from "./judge/chromium.ts";
export type { CheckResult, Evidence, Judge, JudgeTask, PointResult } from "./judge/judge.ts";
export { judgeCheck } from "./judge/judge-check.ts";
export type { JudgeCheckOptions, JudgedCheck } from "./judge/judge-check.ts";
export type { SessionOptions } from "./judge/open-session.ts";
export { createOracleJudge } from "./judge/oracle-judge.ts";
export type { Oracle, OracleJudgeOptions, OracleTools } from "./judge/oracle-judge.ts";
export { preflight } from "./judge/preflight.ts";
export type { PreflightOptions, PreflightResult } from "./judge/preflight.ts";
export { writePublishedLayout } from "./judge/webvoyager/published-layout.ts";
export { WebvoyagerRecord } from "./judge/webvoyager/record.ts";
export { createWebvoyagerJudge } from "./judge/webvoyager/webvoyager-judge.ts";
export type { WebvoyagerJudgeOptions } from "./judge/webvoyager/webvoyager-judge.ts";
export { EXPORT_FORMATS, exportRun } from "./exchange/export-run.ts";
export { IMPORT_LAYOUTS, importRun } from "./exchange/import-run.ts";
export type { ImportReport, ImportRequest } from "./exchange/import-run.ts";
export { cleanLocalLeftovers } from "./runner/local-leftovers.ts";
export type { LocalLeftover } from "./runner/local-leftovers.ts";
export { openLocalSandbox } from "./runner/local-sandbox.ts";
export type { LocalSandboxOptions } from "./runner/local-sandbox.ts";
export { scoreObserved } from "./scoring/score.ts";
export type { Observed, Score } from "./scoring/score.ts";
export type { Intervals, RunStatistics } from "./scoring/run-statistics.ts";
export type { AppMetrics, AppScore } from "./scoring/score-app.ts";
export type { RunMetrics, RunScore } from "./scoring/score-run.ts";
export { readRunFolder } from "./trace/run-folder.ts";
export type { RunFolder } from "./trace/run-folder.ts";
export { scorePaths, scoreRunFolder } from "./report/score-source.ts";
export type { ScoredSource } from "./report/score-source.ts";
export { scoreDocument, scoreDocuments } from "./report/score-json.ts";
export { renderScore } from "./report/score-table.ts";
export type { AppDown } from "./runner/app-down.ts";
export { InstallCache } from "./runner/app-install.ts";
export { openAppProxy } from "./runner/app-proxy.ts";
export type { AppProxy } from "./runner/app-proxy.ts";
export { startApp } from "./runner/running-app.ts";
export type { RunningApp, StartOptions } from "./runner/running-app.ts";
export { prepareApp } from "./runner/serve.ts";
export type { AppSource, PreparedApp, PrepareOptions } from "./runner/serve.ts";
export { openDockerSandbox } from "./runner/docker/docker-sandbox.ts";
export type { DockerSandboxOptions } from "./runner/docker/docker-sandbox.ts";
export type { EngineOptions } from "./runner/docker/engine.ts";
export { ensureImage } from "./runner/docker/images.ts";
export type { ImageOptions, SandboxImage } from "./runner/docker/images.ts";
export { cleanDockerLeftovers } from "./runner/docker/leftovers.ts";
export type { DockerLeftovers, LeftoverOptions } from "./runner/docker/leftovers.ts";
export { compareRuns } from "./jobs/compare.ts";
export type { CompareOptions } from "./jobs/compare.ts";
export type { Comparison } from "./report/comparison.ts";
export { renderComparison } from "./report/comparison-table.ts";
export { PLANNED_METRICS, planComparison } from "./jobs/plan.ts";
export type { ComparisonPlan, PlanOptions } from "./jobs/plan.ts";
export { examine } from "./jobs/doctor.ts";
export type { DoctorFinding, DoctorOptions } from "./jobs/doctor.ts";
export { calibrate } from "./jobs/calibrate.ts";
export type { CalibrateRequest } from "./jobs/calibrate.ts";
export type { Calibration } from "./jobs/calibrate/calibration.ts";
export { calibrationLine } from "./jobs/calibration-line.ts";
export { calibrateOnLabels } from "./jobs/calibrate-on-labels.ts";
export { renderCalibration } from "./report/calibration-table.ts";
export { rejudge } from "./jobs/rejudge.ts";
export type { Rejudged, RejudgeRequest } from "./jobs/rejudge.ts";
export type { JudgeAgain } from "./jobs/rejudge/open-source.ts";
export { ONLY } from "./jobs/rejudge/select-checks.ts";
export { checkoutSnapshot, serveSnapshot } from "./runner/checkout.ts";
export type { ServeOptions, SnapshotName } from "./runner/checkout.ts";
export type { RunEnvironment } from "./runner/environment.ts";
export { RunOptions } from "./runner/options.ts";
export { evowebVersion } from "./runner/provenance.ts";
export { resolveOptions } from "./runner/resolve-options.ts";
export { run } from "./runner/run.ts";
export type { RunRequest } from "./runner/run.ts";
export type { FileRef, TraceEvent, Verdict } from "./trace/event.ts";
export { createMask, secretsOf } from "./trace/mask.ts";
