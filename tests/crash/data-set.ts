import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Words that the app shows after each request. */
const BUILT = ["One", "Two"];
const REQUESTS = BUILT.length;

const server = (built: string): string => `import http from "node:http";
http.createServer((request, response) => {
  response.setHeader("content-type", "text/html");
  response.end('<h1>App</h1><a href="/go">Go</a><p>' + (request.url === "/go" ? "${built}" : "Start") + "</p>");
}).listen(Number(process.env.PORT));
`;

const ORACLE = `export async function check(request, index, { page, url }) {
  await page.goto(url);
  await page.getByRole("link", { name: "Go" }).click();
  const word = ["One", "Two"][request - 1];
  const met = await page.getByText(word).waitFor({ timeout: 1000 }).then(() => true, () => false);
  // The NO of one check must stay one, whatever is killed.
  return [{ point: word + " is shown", met: met && index !== 1, saw: "" }];
}
`;

/** The files of the app after each request, by path. */
export const WORKSPACES: readonly Readonly<Record<string, string>>[] = BUILT.map((built) => ({
  "package.json": JSON.stringify({ scripts: { start: "node server.mjs" } }),
  "server.mjs": server(built),
}));

/** Writes a data set of one app with two requests and short checks, for runs of seconds. */
export async function writeDataSet(dir: string): Promise<void> {
  const check = { task: "Press Go", expected_result: "The word is shown", task_category: {} };
  const row = {
    id: "000001",
    instruction: "Show One after Go",
    ui_instruct: [check, check],
    follow_ups: [{ instruction: "Show Two after Go", ui_instruct: Array.from({ length: 5 }, () => check) }],
  };
  await mkdir(join(dir, "oracles"), { recursive: true });
  await writeFile(join(dir, "rows.jsonl"), `${JSON.stringify(row)}\n`);
  await writeFile(join(dir, "oracles/000001.js"), ORACLE);
  for (let request = 1; request <= REQUESTS; request += 1) {
    const folder = join(dir, "solutions/000001", String(request).padStart(2, "0"));
    await mkdir(folder, { recursive: true });
    for (const [path, text] of Object.entries(WORKSPACES[request - 1] ?? {})) await writeFile(join(folder, path), text);
  }
}
