// Loads what a page shows only on demand, sorts and filters tables, and follows a run that goes on. Text of an agent is only ever set as
// text, never as markup.
const details = new Map();

/** Called by the files in data/. */
globalThis.evowebDetail = (name, detail) => {
  const target = details.get(name);
  if (target !== undefined) fill(target, detail);
};

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function fold(title, ...content) {
  const part = make("details", "fold");
  part.append(make("summary", "", title), ...content);
  return part;
}

function pre(text) {
  const block = make("pre", "", text);
  block.tabIndex = 0;
  return block;
}

function patchBlock(patch) {
  const block = pre("");
  block.classList.add("patch");
  for (const line of patch.split("\n")) {
    const isHead = /^(diff --git |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity)/.test(line);
    const sign = { "+": "added", "-": "removed", "@": "hunk" }[line[0]];
    block.append(make("span", isHead ? "head" : (sign ?? "same"), `${line}\n`));
  }
  return block;
}

function counts(patch) {
  const body = patch.slice(Math.max(0, patch.indexOf("\n@@")));
  const count = (sign) => body.split("\n").filter((line) => line.startsWith(sign)).length;
  return `+${count("+")} -${count("-")}`;
}

function diffParts(diff) {
  if (diff === null) return [make("p", "note", "The snapshots of this run are not here.")];
  if (diff.files.length === 0) return [make("p", "note", "Nothing was changed.")];
  const parts = diff.files.map(({ path, patch }) =>
    patch === "" ? fold(path, make("p", "note", "Not shown.")) : fold(`${path}  ${counts(patch)}`, patchBlock(patch)),
  );
  if (diff.isCut)
    parts.push(make("p", "warning", "Too much to show all of it: the rest is in workspace.git of the run."));
  return parts;
}

function checkParts({ points, steps }) {
  const parts = [];
  if (points.length > 0) {
    const list = make("ul", "points");
    for (const { point, met, saw } of points) {
      const item = make("li", met ? "met" : "unmet");
      item.append(make("b", "", met ? "met: " : "not met: "), point, make("span", "saw", ` saw ${saw}`));
      list.append(item);
    }
    parts.push(list);
  }
  if (steps.length > 0) parts.push(fold(`${steps.length} steps`, pre(steps.join("\n"))));
  return parts;
}

function fill(target, { diff, logs, checks }) {
  const slot = (name) => target.querySelector(`[data-slot="${name}"]`);
  slot("diff").replaceChildren(...diffParts(diff));
  const shown = logs.map(({ name, text }) => fold(name, pre(text)));
  slot("logs").replaceChildren(...(shown.length === 0 ? [make("p", "note", "None.")] : shown));
  for (const [index, check] of Object.entries(checks)) slot(`check-${index}`)?.replaceChildren(...checkParts(check));
  target.dataset.state = "loaded";
}

function load(target) {
  const name = target.dataset.detail;
  if (details.has(name)) return;
  details.set(name, target);
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  script.addEventListener("error", () => {
    for (const name of ["diff", "logs"]) {
      target.querySelector(`[data-slot="${name}"]`).textContent =
        "Could not be loaded: the data folder of the report is missing.";
    }
  });
  document.head.append(script);
}

/** Opens everything around the part that the address names. */
function openNamed() {
  const named = location.hash === "" ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named === null) return;
  for (let part = named; part !== null; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  named.scrollIntoView();
}

const valueOf = (row, index) => {
  const cell = row.cells[index];
  const value = cell.dataset.value;
  if (value === undefined) return cell.textContent;
  return value === "" ? Number.NEGATIVE_INFINITY : Number(value);
};

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const [index, head] of heads.entries()) {
    head.querySelector("button").addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      const [body] = table.tBodies;
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      body.append(...[...body.rows].sort((a, b) => sign * order(valueOf(a, index), valueOf(b, index))));
    });
  }
}

function makeFilters(box) {
  const table = document.getElementById(box.dataset.filters);
  const [text, kind, count] = ["text", "kind", "count"].map((name) => box.querySelector(`[data-filter="${name}"]`));
  const apply = () => {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const isKind = kind.value === "" || row.dataset.kinds.split(" ").includes(kind.value);
      row.hidden = !isKind || !row.textContent.toLowerCase().includes(text.value.toLowerCase());
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} apps`;
  };
  text.addEventListener("input", apply);
  kind.addEventListener("change", apply);
}

/** Loads the page again once the run has grown; open parts stay open. */
function follow(version) {
  const key = `evoweb-open ${location.pathname}`;
  for (const id of JSON.parse(sessionStorage.getItem(key) ?? "[]"))
    document.getElementById(id)?.setAttribute("open", "");
  const look = async () => {
    try {
      const answer = await fetch("/version.txt", { cache: "no-store" });
      if (answer.ok && (await answer.text()) !== version) {
        const open = [...document.querySelectorAll("details[id][open]")].map(({ id }) => id);
        sessionStorage.setItem(key, JSON.stringify(open));
        location.reload();
        return;
      }
    } catch {
      document.title = `(ended) ${document.title.replace(/^\(ended\) /, "")}`;
      return;
    }
    setTimeout(look, 2000);
  };
  setTimeout(look, 2000);
}

for (const target of document.querySelectorAll("details[data-detail]")) {
  target.addEventListener("toggle", () => target.open && load(target));
}
for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
for (const box of document.querySelectorAll("[data-filters]")) makeFilters(box);
addEventListener("hashchange", openNamed);
openNamed();
const version = document.querySelector('meta[name="evoweb-version"]');
if (version !== null && location.protocol.startsWith("http")) follow(version.content);
