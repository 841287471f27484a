/* eslint-disable no-unused-expressions -- the file is one function, which page-scripts.ts hands to the browser */
// Finds what the published protocol marks. Gives the elements beside what is said about them, in the same order; changes nothing.
() => {
  const width = Math.max(document.documentElement.clientWidth, window.innerWidth);
  const height = Math.max(document.documentElement.clientHeight, window.innerHeight);
  const ALWAYS = new Set(["INPUT", "TEXTAREA", "SELECT", "BUTTON", "A", "IFRAME", "VIDEO", "LI", "TD", "OPTION"]);

  const isHit = (element, box) => {
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return hit !== null && element.contains(hit);
  };
  const clip = (box) => {
    const left = Math.max(0, box.left);
    const top = Math.max(0, box.top);
    return { left, top, width: Math.min(width, box.right) - left, height: Math.min(height, box.bottom) - top };
  };
  const inspect = (element) => {
    const boxes = [...element.getClientRects()].filter((box) => isHit(element, box)).map(clip);
    if (boxes.reduce((sum, box) => sum + box.width * box.height, 0) < 20) return [];
    const isCandidate =
      ALWAYS.has(element.tagName) || element.onclick != null || getComputedStyle(element).cursor === "pointer";
    return isCandidate ? [{ element, boxes }] : [];
  };
  // A page that breaks one of the calls above breaks it for its own elements only.
  const tryInspect = (element) => {
    try {
      return inspect(element);
    } catch {
      return [];
    }
  };

  let items = [...document.querySelectorAll("*")].flatMap(tryInspect);
  const isKept = (element) => items.some((item) => item.element === element);
  const above = (element) => {
    const list = [];
    for (let up = element.parentElement; up !== null; up = up.parentElement) list.push(up);
    return list;
  };
  const isButton = (element) => element.matches('button, a, input[type="button"], div[role="button"]');
  items = items.filter(({ element }) => !above(element).some((up) => isButton(up) && isKept(up)));
  items = items.filter(({ element: { parentElement: parent } }) => {
    const isWrapper = parent?.tagName === "SPAN" && parent.children.length === 1 && parent.hasAttribute("role");
    return !(isWrapper && isKept(parent));
  });
  const outer = new Set(items.flatMap(({ element }) => above(element)));
  items = items.filter(({ element }) => !outer.has(element));

  return {
    elements: items.map((item) => item.element),
    marks: items.map(({ element, boxes }) => ({
      tag: element.tagName.toLowerCase(),
      type: String(element.type ?? ""),
      text: (element.textContent ?? "")
        .trim()
        .replaceAll(/\s{2,}/g, " ")
        .slice(0, 200),
      ariaLabel: element.getAttribute("aria-label") ?? "",
      boxes,
    })),
  };
};
