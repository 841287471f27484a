export { EvowebError, messageOf } from "./errors.ts";
export type { EvowebErrorCode } from "./errors.ts";
export { parseRow } from "./dataset/parse-row.ts";
export type {
  ChangeRequest,
  Check,
  CheckRole,
  Dependency,
  GlobalRule,
  PinnedSeed,
  Row,
  SampledRow,
} from "./dataset/row.ts";
export { buildRequestGraph, toMermaid } from "./graph/request-graph.ts";
export type { RequestEdge, RequestGraph } from "./graph/request-graph.ts";
