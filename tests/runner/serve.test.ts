import { openLocalSandbox } from "../../src/runner/local-sandbox.ts";
import { describeServing } from "./serving-contract.ts";

describeServing("the local sandbox", () => openLocalSandbox({ runId: "serving" }));
