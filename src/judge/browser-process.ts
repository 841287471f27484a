import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium, type Browser } from "playwright";
import { EvowebError, messageOf } from "../errors.ts";
import type { Chromium } from "./chromium.ts";

/** How a browser process is kept from the host. */
export interface Protection {
  /** Chromium's own sandbox. */
  readonly sandboxed: boolean;
  /** Started as this user instead of root; undefined: as the user who runs evoweb. */
  readonly user?: "nobody";
  /** The above as a sentence for run.json. */
  readonly sentence: string;
}

/** One running Chromium; disposing ends all its processes and removes its folder, whatever its pages do. */
export interface BrowserProcess extends AsyncDisposable {
  readonly browser: Browser;
  readonly protection: Protection;
  /** Leader of the process group in which every process of this browser is. */
  readonly processGroup: number;
}

const NOBODY = 65_534;
const CLOSE_LIMIT_MS = 5000;

/**
 * Egress: every name but the proxy's address fails to resolve, WebRTC and QUIC may not go round the proxy.
 * The spare renderer is for a navigation of the same context, which ours do not make; it would only take memory.
 */
const ARGS = [
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-domain-reliability",
  "--no-pings",
  "--dns-prefetch-disable",
];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The shell stays as the group's leader, so that folders go also when the harness was killed and cannot remove them. */
function launcherScript(executablePath: string, folder: string, user: Protection["user"]): string {
  const home = join(folder, "home");
  const asUser =
    user === undefined ? "" : `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --inh-caps=-all `;
  return `#!/bin/sh
profile=
for argument in "$@"; do
  case "$argument" in --user-data-dir=*) profile=\${argument#--user-data-dir=} ;; esac
done
echo $$ > ${quoted(join(folder, "pid"))}
${user === undefined ? "" : `chown -R ${NOBODY}:${NOBODY} "$profile"`}
${asUser}env -i HOME=${quoted(home)} PATH="$PATH" LANG=C.UTF-8 ${quoted(executablePath)} "$@"
status=$?
rm -rf "$profile" ${quoted(folder)}
exit $status
`;
}

async function makeFolder(executablePath: string, user: Protection["user"]): Promise<string> {
  // Others may pass through, for the unprivileged browser has to reach its own folders below.
  const folder = await mkdtemp(join(tmpdir(), "evoweb-browser-"));
  const launcher = join(folder, "launch.sh");
  await writeFile(launcher, launcherScript(executablePath, folder, user), { mode: 0o755 });
  for (const name of ["home", "artifacts"]) {
    await mkdir(join(folder, name), { mode: 0o700 });
    if (user !== undefined) await chown(join(folder, name), NOBODY, NOBODY);
  }
  return folder;
}

function groupLives(processGroup: number): boolean {
  try {
    process.kill(-processGroup, 0);
    return true;
  } catch {
    return false;
  }
}

async function endGroup(processGroup: number): Promise<void> {
  const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
  while (groupLives(processGroup) && !limit.aborted) {
    try {
      process.kill(-processGroup, "SIGKILL");
    } catch {
      return;
    }
    await delay(10);
  }
}

/** Whether `work` settled within the limit; a rejection counts as settled. */
export async function settledWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(limitMs, false, { signal: timer.signal, ref: true }).catch(() => false);
  const settled = work.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([settled, late]);
  timer.abort();
  return result;
}

async function launchWith(found: Chromium, rung: Protection, timeoutMs: number): Promise<BrowserProcess> {
  const folder = await makeFolder(found.executablePath, rung.user);
  const pidFile = join(folder, "pid");
  const readPid = async (): Promise<number> => Number(await readFile(pidFile, "utf8"));
  try {
    await chmod(folder, 0o711);
    const browser = await chromium.launch({
      executablePath: join(folder, "launch.sh"),
      chromiumSandbox: rung.sandboxed,
      args: ARGS,
      artifactsDir: join(folder, "artifacts"),
      timeout: timeoutMs,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    const processGroup = await readPid();
    return {
      browser,
      protection: rung,
      processGroup,
      [Symbol.asyncDispose]: async () => {
        await settledWithin(browser.close(), CLOSE_LIMIT_MS);
        await endGroup(processGroup);
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    const processGroup = await readPid().catch(() => undefined);
    if (processGroup !== undefined) await endGroup(processGroup);
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function rungs(): readonly Protection[] {
  const unsandboxed = "Chromium's own sandbox could not be used on this machine";
  if (process.getuid?.() !== 0) {
    return [
      { sandboxed: true, sentence: "Chromium's own sandbox, as the user who runs evoweb" },
      { sandboxed: false, sentence: `${unsandboxed}; it ran as the user who runs evoweb` },
    ];
  }
  return [
    { sandboxed: true, user: "nobody", sentence: "Chromium's own sandbox, as the unprivileged user nobody" },
    { sandboxed: false, user: "nobody", sentence: `${unsandboxed}; it ran as the unprivileged user nobody` },
    { sandboxed: false, sentence: `${unsandboxed}, nor an unprivileged user; it ran as root` },
  ];
}

/** Starts Chromium with the best protection that works here. Throws `EvowebError("browser")` with each reason when none does. */
export async function startBrowser(
  found: Chromium,
  options: { readonly timeoutMs: number; readonly protection?: Protection | undefined },
): Promise<BrowserProcess> {
  const failures: string[] = [];
  for (const rung of options.protection === undefined ? rungs() : [options.protection]) {
    try {
      return await launchWith(found, rung, options.timeoutMs);
    } catch (error) {
      failures.push(`${rung.sentence}: ${messageOf(error).slice(0, 600)}`);
    }
  }
  throw new EvowebError(
    "browser",
    `${found.executablePath} cannot be started (${failures.join("; ")}). Set EVOWEB_CHROMIUM to another Chromium, or run ./evoweb.`,
  );
}
