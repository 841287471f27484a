import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type Docker from "dockerode";
import { EvowebError } from "../../errors.ts";
import { outputBuffer } from "../output-buffer.ts";
import { endOf, pollEnd, startExec } from "./exec.ts";
import type { ExecEnd, ExecSpec, RunningExec } from "./exec.ts";
import { FrameReader } from "./frames.ts";

const END_TIMEOUT_MS = 30_000;
const MAX_ERROR_BYTES = 4096;
// tar's code for "some files changed while they were read"; the archive is whole.
const TAR_FILES_DIFFER = 1;

/** A file tool of the image to run over a tree, by absolute path and with an empty environment: agents may own PATH, never /usr. */
function cleanSpec(user: string, argv: readonly string[]): ExecSpec {
  return { argv: ["/usr/bin/env", "-i", ...argv], user, workingDir: "/" };
}

async function endAfter(running: RunningExec): Promise<ExecEnd> {
  return (await endOf(running.exec)) ?? (await pollEnd(running.exec, AbortSignal.timeout(END_TIMEOUT_MS)));
}

/** A program's output as a stream that ends with an error when the program fails. `fine` are good exit codes. */
async function outputStream(container: Docker.Container, spec: ExecSpec, fine: readonly number[]): Promise<Readable> {
  const running = await startExec(container, spec);
  const errors = outputBuffer(MAX_ERROR_BYTES);
  const output = new Transform({
    transform(bytes: Buffer, _, done) {
      try {
        frames.push(bytes);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      const finish = async (): Promise<void> => {
        try {
          frames.end();
          const end = await endAfter(running);
          const isFine = end.hasStarted && fine.includes(end.exitCode);
          done(isFine ? null : failure(spec, end, errors.result().text));
        } catch (error) {
          done(error as Error);
        }
      };
      void finish();
    },
  });
  const frames = new FrameReader((kind, piece) => {
    if (kind === "stderr") errors.push(piece);
    else output.push(piece);
  });
  running.stream.on("error", (error) => output.destroy(error));
  output.on("close", () => running.stream.destroy());
  running.stream.pipe(output);
  return output;
}

function failure(spec: ExecSpec, end: ExecEnd, words: string): EvowebError {
  const program = spec.argv.slice(2, 4).join(" ");
  return new EvowebError("sandbox", `${program} in a place ended with code ${end.exitCode}: ${words.trim()}`);
}

/** Runs a program, its input fed from a stream or held open, and returns its stdout. Throws unless its exit code is fine. */
export async function runTool(
  container: Docker.Container,
  spec: ExecSpec,
  io: { input?: Readable; fine?: readonly number[] } = {},
): Promise<string> {
  const running = await startExec(container, spec);
  const errors = outputBuffer(MAX_ERROR_BYTES);
  const output: Buffer[] = [];
  const frames = new FrameReader((kind, piece) => {
    if (kind === "stderr") errors.push(piece);
    else output.push(Buffer.from(piece));
  });
  const reading = (async (): Promise<void> => {
    for await (const bytes of running.stream) frames.push(bytes as Buffer);
    frames.end();
  })();
  reading.catch(() => {});
  // A program that has failed reads no more; its own words say why, not the broken pipe.
  if (io.input !== undefined) await feed(io.input, running);
  await reading;
  const end = await endAfter(running);
  if (!end.hasStarted || !(io.fine ?? [0]).includes(end.exitCode)) throw failure(spec, end, errors.result().text);
  return Buffer.concat(output).toString("utf8");
}

async function feed(input: Readable, running: RunningExec): Promise<void> {
  let inputFault: Error | undefined;
  input.once("error", (error) => (inputFault = error));
  try {
    await pipeline(input, async (source: AsyncIterable<Buffer>) => {
      for await (const bytes of source) {
        if (running.stream.destroyed || running.stream.writableEnded) return;
        if (!running.stream.write(bytes)) await drained(running);
      }
    });
  } catch (error) {
    running.stream.destroy();
    throw inputFault ?? error;
  }
  running.stream.end();
}

function drained({ stream }: RunningExec): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}

/** A tree as a tar stream. */
export function readTree(
  container: Docker.Container,
  user: string,
  from: { root: string; exclude: readonly string[] },
) {
  const excludes = from.exclude.map((name) => `--exclude=${name}`);
  // Hard links would arrive as links without content. A file that its owner may not read is left out, not a fault.
  const argv = [
    "/usr/bin/tar",
    "-C",
    from.root,
    "--no-wildcards",
    ...excludes,
    "--hard-dereference",
    "--ignore-failed-read",
    "-cf",
    "-",
    ".",
  ];
  return outputStream(container, cleanSpec(user, argv), [0, TAR_FILES_DIFFER]);
}

/** Unpacks a tar stream over a tree, as the user of the place, who therefore owns the files. */
export async function writeTree(container: Docker.Container, user: string, to: { root: string; tar: Readable }) {
  await runTool(
    container,
    { ...cleanSpec(user, ["/usr/bin/tar", "-C", to.root, "--no-same-owner", "-xf", "-"]), hasStdin: true },
    { input: to.tar },
  );
}

const CLEAR = `cd -- "$1" && shift
/usr/bin/find . -type d ! -perm -u=rwx -exec /usr/bin/chmod u+rwx {} \\;
keep=(); for name in "$@"; do keep+=(-o -name "$name"); done
/usr/bin/find . -mindepth 1 -type d \\( -false "\${keep[@]}" \\) -prune -o ! -type d -exec /usr/bin/rm -f -- {} + &&
/usr/bin/find . -mindepth 1 -type d \\( -false "\${keep[@]}" \\) -prune -o -type d -print0 |
  /usr/bin/sort -rz | /usr/bin/xargs -0r /usr/bin/rmdir --ignore-fail-on-non-empty --`;

/** Removes all but the folders of these names. */
export async function clearTree(
  container: Docker.Container,
  user: string,
  tree: { root: string; keep: readonly string[] },
) {
  await runTool(container, cleanSpec(user, ["/bin/bash", "-c", CLEAR, "clear", tree.root, ...tree.keep.map(globSafe)]));
}

// `-name` reads patterns; names are meant literally.
const globSafe = (name: string): string => name.replaceAll(/[*?[\]\\]/g, String.raw`\$&`);

/** Bytes on the disk under a folder, as `du` counts them. Folders that the user may not read do not count. */
export async function treeBytes(container: Docker.Container, user: string, folder: string): Promise<number> {
  const text = await runTool(container, cleanSpec(user, ["/usr/bin/du", "-s", "--block-size=1", folder]), {
    fine: [0, 1],
  });
  return Number(text.split("\t")[0]);
}
