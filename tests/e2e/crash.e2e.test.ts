import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { evoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-crash-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A data set of one check ("The page shows Done after Go") whose app is `server`; gives the check's event. */
async function judge(name: string, server: string): Promise<Record<string, unknown>> {
  const dir = join(folder, name);
  await mkdir(join(dir, "oracles"), { recursive: true });
  await mkdir(join(dir, "app"));
  await writeFile(join(dir, "app/server.mjs"), server);
  await writeFile(join(dir, "app/package.json"), JSON.stringify({ scripts: { start: "node server.mjs" } }));
  const check = { task: "Press Go", expected_result: "Done is shown", task_category: {} };
  await writeFile(
    join(dir, "rows.jsonl"),
    `${JSON.stringify({ id: "000001", instruction: "Go", ui_instruct: [check] })}\n`,
  );
  await writeFile(
    join(dir, "oracles/000001.js"),
    `export async function check(request, index, { page, url }) {
      await page.goto(url);
      await page.getByRole("link", { name: "Go" }).click();
      const met = await page.getByText("Done").waitFor({ timeout: 2000 }).then(() => true, () => false);
      return [{ point: "Done is shown", met, saw: "" }];
    }`,
  );
  const args = ["run", "--dataset", dir, "--agent", "command", "--command", `cp ${dir}/app/* .`, "--sandbox", "local"];
  const { code, stderr } = await evoweb([...args, "--out", join(dir, "r"), "--json"], { cwd: folder });
  expect(`${stderr}\n${code}`).toMatch(/\n0$/u);
  const lines = (await readFile(join(dir, "r/app-0001/trace.jsonl"), "utf8")).trim().split("\n");
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return events.find((event) => event["type"] === "check_judged") ?? {};
}

const page = (onGo: string): string => `
  import http from "node:http";
  http.createServer((request, response) => {
    if (request.url === "/go") { ${onGo} }
    response.setHeader("content-type", "text/html");
    response.end('<h1>App</h1><a href="/go">Go</a>');
  }).listen(Number(process.env.PORT));`;

test("a feature that is not there is wrong behaviour", async () => {
  expect(await judge("wrong", page(""))).toMatchObject({ verdict: "NO", cause: "judged", class: "wrong_behaviour" });
});

test("an app that dies under a check has crashed: no plain NO", async () => {
  const event = await judge("dies", page("process.exit(1);"));
  expect(event).toMatchObject({ verdict: "NO", cause: "app_down", class: "crashed_while_judged" });
});

test("a page that is blank is up, and its check is NO without a judge", async () => {
  const server =
    'import http from "node:http"; http.createServer((q, r) => r.end("<!doctype html>")).listen(Number(process.env.PORT));';
  expect(await judge("blank", server.replace("r.end", 'r.setHeader("content-type", "text/html").end'))).toMatchObject({
    verdict: "NO",
    cause: "judged",
    class: "blank_page",
  });
});
