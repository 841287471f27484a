import { describeSandboxContract } from "../sandbox-contract.ts";
import { describeWithDocker, openTestSandbox } from "./engine.ts";

describeWithDocker("with an engine", () => {
  describeSandboxContract("docker", openTestSandbox);
});
