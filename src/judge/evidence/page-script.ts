/** What the script in `PAGE_SCRIPT` tells of one document. */
export interface PageFacts {
  readonly scroll: { readonly y: number; readonly maxY: number };
  /** Elements with a scroll of their own, such as `div "Messages" 0 of 900`. */
  readonly scrollers: readonly string[];
  /** What has the focus, such as `input "Name"`; empty when nothing has. */
  readonly focus: string;
  /** Texts that are in the page but cannot be seen. */
  readonly unseen: readonly string[];
  /** Names that exist as attributes only. */
  readonly labels: readonly string[];
  /** Backgrounds of parts that have one. */
  readonly parts: readonly { readonly part: string; readonly color: string; readonly area: number }[];
}

/**
 * Evaluated in a world of its own, where the page's changes to built-in functions are not there. A text counts as unseen when it is
 * transparent, has no size, has the colour of its ground, or is clipped away; text that is also seen elsewhere does not.
 */
export const PAGE_SCRIPT = String.raw`(() => {
  const norm = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, 400);
  const unseen = new Set(), seen = new Set(), labels = new Set(), scrollers = [], parts = [];
  const isClear = (color) => /^rgba\(.*, 0\)$/.test(color) || color === "transparent";
  const parentOf = (el) => el.parentElement || (el.getRootNode() instanceof ShadowRoot ? el.getRootNode().host : null);
  const groundOf = (el) => {
    for (let at = el; at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      if (!isClear(style.backgroundColor)) return style.backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const isClipped = (el) => {
    for (let at = el, hops = 0; at && hops < 6; at = parentOf(at), hops += 1) {
      const style = getComputedStyle(at), box = at.getBoundingClientRect();
      if (style.overflow !== "visible" && (box.width <= 1 || box.height <= 1)) return true;
      if (/inset\((?:5\d|100)%|circle\(0/.test(style.clipPath) || /^rect\((?:0|1)px,? (?:0|1)px/.test(style.clip)) return true;
    }
    return false;
  };
  const isUnseen = (el) => {
    if (!el.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return true;
    const style = getComputedStyle(el);
    if (parseFloat(style.fontSize) < 3 || isClear(style.color)) return style.backgroundClip !== "text";
    return isClipped(el) || groundOf(el) === style.color;
  };
  let count = 0;
  const name = (el) => el.tagName.toLowerCase() + ' "' + norm(el.getAttribute("aria-label") || el.id || el.textContent).slice(0, 40) + '"';
  const visit = (el) => {
    if ((count += 1) > 6000) return;
    if (/^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT|HEAD)$/.test(el.tagName)) return;
    const hasText = [...el.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== "");
    if (hasText) (isUnseen(el) ? unseen : seen).add(norm(el.textContent));
    for (const key of ["aria-label", "title", "alt"]) {
      const label = norm(el.getAttribute(key));
      if (label && label !== norm(el.innerText)) labels.add(label);
    }
    if (el.scrollHeight > el.clientHeight + 20 && el.clientHeight > 40 && el !== document.documentElement && el !== document.body
      && /auto|scroll/.test(getComputedStyle(el).overflowY) && scrollers.length < 5) {
      scrollers.push(name(el) + " " + Math.round(el.scrollTop) + " of " + (el.scrollHeight - el.clientHeight));
    }
    if (parts.length < 60 && /^(BUTTON|HEADER|NAV|FOOTER|ARTICLE|ASIDE|SECTION|FORM|MAIN|INPUT|TABLE|TH|LI|A|DIV)$/.test(el.tagName)) {
      const color = getComputedStyle(el).backgroundColor, box = el.getBoundingClientRect();
      const area = Math.round(box.width * box.height);
      if (!isClear(color) && area > 100) parts.push({ part: el.tagName.toLowerCase(), color, area });
    }
    for (const child of el.children) visit(child);
    if (el.shadowRoot) for (const child of el.shadowRoot.children) visit(child);
  };
  if (document.documentElement) {
    const page = getComputedStyle(document.body || document.documentElement).backgroundColor;
    const root = getComputedStyle(document.documentElement).backgroundColor;
    parts.push({ part: "page", color: isClear(page) ? (isClear(root) ? "rgb(255, 255, 255)" : root) : page, area: innerWidth * innerHeight });
    if (document.body) visit(document.body);
  }
  const active = document.activeElement;
  return {
    scroll: { y: Math.round(scrollY), maxY: Math.max(0, document.documentElement.scrollHeight - innerHeight) },
    scrollers,
    focus: active && active !== document.body ? name(active) : "",
    unseen: [...unseen].filter((text) => !seen.has(text)).slice(0, 200),
    labels: [...labels].filter((text) => !seen.has(text)).slice(0, 200),
    parts,
  };
})()`;
