import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Gateway } from "../../../src/runner/gateway/gateway.ts";
import { Meter } from "../../../src/runner/gateway/meter.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

// Put together here, so that the command that looks for them does not find itself.
const CANARIES = ["check", "later", "key", "file"].map(
  (kind) => `${["evo", "canary"].join("")}-${kind}-${process.pid}`,
);
const [, , KEY = "", HOST_FILE = ""] = CANARIES;

/** Reads everything it can, tries every address it can guess on its own interfaces and beyond, and prints what it found. */
const SEARCH = String.raw`
from concurrent.futures import ThreadPoolExecutor
import os, socket, stat, sys
marks = ["evo" + "canary-" + kind for kind in ("check", "later", "key", "file")]
found = set()
def look(where, data):
    for mark in marks:
        if mark.encode() in data: found.add(f"{mark} in {where}")
files = 0
for top in ("/proc", "/home", "/workspace", "/tmp", "/run", "/etc", "/var", "/root", "/mnt", "/media", "/srv", "/opt", "/dev/shm", "/layer", "/evoweb"):
    for folder, dirs, names in os.walk(top, followlinks=False):
        dirs[:] = [d for d in dirs if not (top == "/proc" and d in ("task", "net"))]
        for name in names:
            path = os.path.join(folder, name)
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode) or path.endswith(("kmsg", "kcore", "pagemap", "clear_refs")): continue
                with open(path, "rb") as f: look(path, f.read(1 << 20))
                files += 1
            except OSError: pass
look("environment", repr(os.environ).encode())
own = os.getpid()
hosts = ["127.0.0.1", "::1", "0.0.0.0", "172.17.0.1", "172.17.0.2", "169.254.169.254", "192.168.0.1", "10.0.0.1", "100.100.100.200", "host.docker.internal", socket.gethostname()]
ports = list(range(1, 1025)) + [2375, 2376, 3000, 5000, 5432, 6379, 8000, 8080, 8888, 9000] + [int(p) for p in sys.argv[1:]]
def ask(target):
    host, port = target
    try:
        with socket.create_connection((host, port), timeout=0.5) as s:
            s.settimeout(1)
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            data = s.recv(4096)
            look(f"{host}:{port}", data)
            return f"open {host}:{port}"
    except OSError: return None
loop = [(h, p) for h in hosts[:3] for p in ports]
far = [(h, p) for h in hosts[3:] for p in [22, 53, 80, 443, 2375, 2376] + [int(p) for p in sys.argv[1:]]]
with ThreadPoolExecutor(32) as pool: reached = sorted({r for r in pool.map(ask, loop + far) if r})
for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"):
    if os.path.exists(path): found.add(path)
print("files", files > 100); print("found", sorted(found)); print("reached", reached)
`;

describeWithDocker("the leak test", () => {
  let sandbox: Sandbox;
  let folder: string;
  beforeAll(async () => {
    for (const [index, canary] of CANARIES.entries()) process.env[`EVOWEB_LEAK_${index}`] = canary;
    folder = await mkdtemp(join(tmpdir(), "evoweb-leak-"));
    await writeFile(join(folder, "rows.jsonl"), CANARIES.join("\n"));
    sandbox = await openTestSandbox();
  });
  afterAll(async () => {
    for (const index of CANARIES.keys()) delete process.env[`EVOWEB_LEAK_${index}`];
    await sandbox[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("a program that searches all it can read and tries all addresses finds no canary and reaches only the two relays", async () => {
    const host = http.createServer((_, response) => response.end(HOST_FILE));
    await once(host.listen(0, "0.0.0.0"), "listening");
    const { port } = host.address() as AddressInfo;
    const gateway = new Gateway({
      upstreams: { openai: { baseUrl: `http://127.0.0.1:${port}`, apiKey: KEY } },
      budgets: { request: {}, app: {}, run: {} },
      runMeter: new Meter(),
      priceOf: () => null,
      record: () => {},
      mask: (text) => text,
    });
    gateway.begin(1, 1);
    await using other = await sandbox.open({ label: "other", limits });
    await other.start({ argv: ["python3", "-m", "http.server", "8000"] });
    await using place = await sandbox.open({ label: "agent", limits, gateway: gateway.server });
    const { stdout, stderr } = await place.exec({ argv: ["python3", "-c", SEARCH, String(port)], timeoutMs: 90_000 });
    const [files, found, reached] = stdout.text.split("\n");
    expect([files, found, stderr.text]).toEqual(["files True", "found []", ""]);
    // 897: the gateway; 898: the package proxy. 899 was the guard's and takes nobody else.
    const open = [...(reached ?? "").matchAll(/open [^:]+:(\d+)/gu)].map(([, number]) => number);
    expect(new Set(open)).toEqual(new Set(["897", "898"]));
    host.closeAllConnections();
    host.close();
  });
});
