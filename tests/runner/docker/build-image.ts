import { existsSync } from "node:fs";
import { ensureImage } from "../../../src/runner/docker/images.ts";

/** Before any test that needs an engine: the image, so that no test's own time goes into its first build. */
export default async function buildImage(): Promise<void> {
  // Without an engine the tests themselves say so.
  if (!existsSync("/var/run/docker.sock")) return;
  const caFile = process.env["EVOWEB_CA_FILE"];
  await ensureImage({
    onLine: (line) => console.log(line),
    ...(caFile === undefined || caFile === "" ? {} : { caFile }),
  });
}
