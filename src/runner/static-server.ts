/**
 * Serves the files of its working folder on PORT; runs inside a place by `node -e`, so it is plain CommonJS without imports
 * from this package. No listing, no guessing: a file, the index.html of a folder, or 404.
 */
const PROGRAM = String.raw`
const http = require("node:http"), fs = require("node:fs"), path = require("node:path");
const root = fs.realpathSync(process.cwd());
const types = {
  html: "text/html; charset=utf-8", htm: "text/html; charset=utf-8", css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8", mjs: "text/javascript; charset=utf-8", json: "application/json; charset=utf-8",
  webmanifest: "application/manifest+json; charset=utf-8", txt: "text/plain; charset=utf-8", md: "text/plain; charset=utf-8",
  csv: "text/csv; charset=utf-8", xml: "application/xml; charset=utf-8", map: "application/json; charset=utf-8",
  svg: "image/svg+xml", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp",
  avif: "image/avif", ico: "image/x-icon", woff: "font/woff", woff2: "font/woff2", ttf: "font/ttf", otf: "font/otf",
  wasm: "application/wasm", pdf: "application/pdf", mp3: "audio/mpeg", wav: "audio/wav", ogg: "audio/ogg",
  mp4: "video/mp4", webm: "video/webm",
};
function find(pathname) {
  try {
    const real = fs.realpathSync(path.join(root, decodeURIComponent(pathname)));
    if (real !== root && !real.startsWith(root + path.sep)) return null;
    const stats = fs.statSync(real);
    if (stats.isFile()) return { file: real, size: stats.size };
    if (!stats.isDirectory()) return null;
    const index = path.join(real, "index.html"), inside = fs.lstatSync(index);
    return inside.isFile() ? { file: index, size: inside.size, isFolder: true } : null;
  } catch { return null; }
}
const server = http.createServer((req, res) => {
  const say = (status, text, headers) => { res.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers }); res.end(text + "\n"); };
  if (req.method !== "GET" && req.method !== "HEAD") return say(405, "Method not allowed", { allow: "GET, HEAD" });
  const [pathname, query] = req.url.split("?", 2);
  if (!pathname.startsWith("/") || pathname.startsWith("//")) return say(404, "Not found");
  const found = find(pathname);
  if (found === null) return say(404, "Not found");
  if (found.isFolder && !pathname.endsWith("/")) return say(301, "Moved", { location: pathname + "/" + (query === undefined ? "" : "?" + query) });
  const type = types[path.extname(found.file).slice(1).toLowerCase()] || "application/octet-stream";
  res.writeHead(200, { "content-type": type, "content-length": found.size, "cache-control": "no-store" });
  if (req.method === "HEAD") return res.end();
  fs.createReadStream(found.file).on("error", () => res.destroy()).pipe(res);
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("Static files on http://localhost:" + process.env.PORT + "/"));
`;

/** Command that serves the files of its working folder on the port in PORT. */
export const STATIC_SERVER: readonly [string, ...string[]] = ["node", "-e", PROGRAM];
