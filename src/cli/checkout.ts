import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { checkoutSnapshot, serveSnapshot, type SnapshotName } from "../index.ts";
import { oneOf, wholeNumber } from "./flags.ts";
import { readEnvironment } from "./read-environment.ts";
import { signalExit } from "./signals.ts";

const EXAMPLES = `
Examples:
  evoweb checkout runs/r1 --app 1 --request 5                files into ./app-0001-request-05
  evoweb checkout runs/r1 --app 1 --request 5 --serve        the app itself, until Ctrl+C`;

/** `evoweb checkout`: an app as it was after a request. */
export function checkoutCommand(): CommandUnknownOpts {
  return new Command("checkout")
    .description("Write out, or serve, an app as it was after a request.")
    .argument("<run>", "run folder")
    .requiredOption("--app <n>", "sample index of the app", wholeNumber(1))
    .requiredOption("--request <k>", "after which request", wholeNumber(1))
    .option("--out <dir>", "folder for the files (default: app-NNNN-request-KK)")
    .option("--serve", "install and start it as a run does, until Ctrl+C", false)
    .option("--sandbox <kind>", "docker or local, for --serve", oneOf("docker", "local"))
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText("after", EXAMPLES)
    .action(async (runDir, flags) => {
      const { app: sampleIndex, request, json } = flags;
      const name = { runDir, sampleIndex, request };
      if (flags.serve) return serve(name, flags);
      const out =
        flags.out ?? `app-${String(sampleIndex).padStart(4, "0")}-request-${String(request).padStart(2, "0")}`;
      const files = await checkoutSnapshot(name, out);
      process.stdout.write(json ? `${JSON.stringify({ out, files })}\n` : `${files} files in ${out}\n`);
    });
}

async function serve(
  name: SnapshotName,
  { sandbox, json }: { sandbox?: "docker" | "local"; json: boolean },
): Promise<void> {
  const signals = signalExit();
  try {
    await serveSnapshot(name, {
      environment: readEnvironment(),
      say: (line) => process.stderr.write(`${line}\n`),
      ready: (url) => process.stdout.write(json ? `${JSON.stringify({ url })}\n` : `${url}   (Ctrl+C stops it)\n`),
      signal: signals.signal,
      ...(sandbox === undefined ? {} : { sandbox }),
    });
  } catch (error) {
    if (signals.exitCode === null) throw error;
  } finally {
    signals.dispose();
  }
  if (signals.exitCode !== null) process.exitCode = signals.exitCode;
}
