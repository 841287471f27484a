export { EvowebError, messageOf } from "./errors.ts";
export type { EvowebErrorCode } from "./errors.ts";
