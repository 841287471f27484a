import { describeWithDocker, openTestSandbox } from "./docker/engine.ts";
import { describeServing } from "./serving-contract.ts";

describeWithDocker("with an engine", () => {
  describeServing("docker", openTestSandbox);
});
