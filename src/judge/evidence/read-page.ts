import type { CDPSession, Page } from "playwright";
import { messageOf } from "../../errors.ts";
import { settledWithin } from "../browser-process.ts";
import { PAGE_SCRIPT, type PageFacts } from "./page-script.ts";
import type { Box, SnapshotNode } from "./render-view.ts";

const SNAPSHOT_LIMIT_MS = 20_000;
const FACTS_LIMIT_MS = 4000;
const MAX_FRAMES = 6;
/** Walking the whole tree of a larger page costs seconds; closed roots in one are left unread. */
const MAX_NODES_FOR_CLOSED = 3000;
const MAX_CLOSED = 60;

/** Something without a ref of Playwright's: a canvas, or a part of a closed shadow root. Acted on by its middle. */
export interface PseudoElement {
  readonly ref: string;
  readonly line: string;
  readonly name: string;
  readonly box: Box;
}

/** A page as it was read; what could not be read is named in `troubles`. */
export interface ReadPage {
  readonly nodes: readonly SnapshotNode[];
  readonly facts: PageFacts;
  readonly pseudo: readonly PseudoElement[];
  readonly hasCanvas: boolean;
  readonly troubles: readonly string[];
}

const NO_FACTS: PageFacts = { scroll: { y: 0, maxY: 0 }, scrollers: [], focus: "", unseen: [], labels: [], parts: [] };

interface FrameTree {
  readonly frame: { readonly id: string };
  readonly childFrames?: readonly FrameTree[];
}
const framesOf = (tree: FrameTree): string[] => [tree.frame.id, ...(tree.childFrames ?? []).flatMap(framesOf)];

/** Evaluates in a world of its own, where nothing that the page redefined is in force. */
async function evaluateApart(cdp: CDPSession, frameId: string): Promise<PageFacts> {
  const { executionContextId } = await cdp.send("Page.createIsolatedWorld", { frameId, worldName: "evoweb" });
  const { result } = await cdp.send("Runtime.evaluate", {
    expression: PAGE_SCRIPT,
    contextId: executionContextId,
    returnByValue: true,
  });
  return result.value as PageFacts;
}

async function readFacts(cdp: CDPSession, troubles: string[]): Promise<PageFacts> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const [main = "", ...others] = framesOf(frameTree).slice(0, MAX_FRAMES);
  const facts = await evaluateApart(cdp, main);
  const inner: PageFacts[] = [];
  for (const id of others) {
    await evaluateApart(cdp, id).then(
      (found) => inner.push(found),
      (error: unknown) => troubles.push(`a frame could not be looked into: ${messageOf(error).slice(0, 100)}`),
    );
  }
  return {
    ...facts,
    unseen: [...facts.unseen, ...inner.flatMap(({ unseen }) => unseen)],
    labels: [...facts.labels, ...inner.flatMap(({ labels }) => labels)],
  };
}

interface DomNode {
  readonly backendNodeId: number;
  readonly shadowRootType?: string;
  readonly children?: readonly DomNode[];
  readonly shadowRoots?: readonly DomNode[];
  readonly contentDocument?: DomNode;
}

function closedIds(node: DomNode, isInside: boolean, into: Set<number>): void {
  const inside = isInside || node.shadowRootType === "closed";
  if (inside) into.add(node.backendNodeId);
  for (const child of [...(node.children ?? []), ...(node.shadowRoots ?? [])]) closedIds(child, inside, into);
  if (node.contentDocument !== undefined) closedIds(node.contentDocument, false, into);
}

async function boxOf(cdp: CDPSession, backendNodeId: number): Promise<Box | undefined> {
  try {
    const { model } = await cdp.send("DOM.getBoxModel", { backendNodeId });
    const [x = 0, y = 0] = model.border;
    return { x, y, width: model.width, height: model.height };
  } catch {
    return undefined;
  }
}

type AxNode = Awaited<ReturnType<typeof readAxTree>>[number];
const readAxTree = async (cdp: CDPSession) => (await cdp.send("Accessibility.getFullAXTree")).nodes;
const wordOf = (value: { readonly value?: unknown } | undefined): string =>
  typeof value?.value === "string" || typeof value?.value === "number" ? String(value.value) : "";

/** An accessibility node in words; undefined for those that only group others. */
function wordsOf(node: AxNode): { readonly name: string; readonly line: string } | undefined {
  const role = wordOf(node.role);
  if (node.ignored || /^(?:none|generic|InlineTextBox|paragraph)$/u.test(role)) return undefined;
  const name = `${role === "StaticText" ? "text" : role} "${wordOf(node.name)}"`;
  const value = wordOf(node.value);
  return { name, line: value === "" ? name : `${name}: "${value}"` };
}

/** What the snapshot leaves out: the parts inside closed shadow roots, which a user sees and uses like any other. */
async function readClosedRoots(cdp: CDPSession): Promise<PseudoElement[]> {
  const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
  const ids = new Set<number>();
  closedIds(root, false, ids);
  if (ids.size === 0) return [];
  const found: PseudoElement[] = [];
  for (const node of await readAxTree(cdp)) {
    const id = node.backendDOMNodeId;
    const words = wordsOf(node);
    if (words === undefined || id === undefined || !ids.has(id) || found.length >= MAX_CLOSED) continue;
    const box = await boxOf(cdp, id);
    if (box !== undefined && box.width > 1 && box.height > 1)
      found.push({ ref: `x${found.length + 1}`, ...words, box });
  }
  return found;
}

async function readCanvases(page: Page): Promise<PseudoElement[]> {
  const found: PseudoElement[] = [];
  for (const frame of page.frames().slice(0, MAX_FRAMES)) {
    for (const canvas of (await frame.locator("canvas").all()).slice(0, 5)) {
      const box = await canvas.boundingBox({ timeout: 1000 });
      if (box === null || box.width < 2 || box.height < 2) continue;
      const at = [box.x, box.y, box.width, box.height].map(Math.round).join(",");
      found.push({ ref: `c${found.length + 1}`, name: "canvas", line: `canvas at x,y,width,height ${at}`, box });
    }
  }
  return found;
}

const countNodes = (nodes: readonly (SnapshotNode | string)[]): number =>
  nodes.reduce<number>((sum, node) => sum + 1 + (typeof node === "string" ? 0 : countNodes(node.children ?? [])), 0);

async function readThroughCdp(
  page: Page,
  nodeCount: number,
  troubles: string[],
): Promise<{ facts: PageFacts; closed: PseudoElement[] }> {
  const cdp = await page.context().newCDPSession(page);
  try {
    const facts = await readFacts(cdp, troubles);
    const closed = nodeCount > MAX_NODES_FOR_CLOSED ? [] : await readClosedRoots(cdp);
    return { facts, closed };
  } finally {
    cdp.detach().catch(() => undefined);
  }
}

/** Reads a page: its accessibility snapshot with refs, and what that leaves out. Never rejects for the page's doing. */
export async function readPage(page: Page): Promise<ReadPage> {
  const troubles: string[] = [];
  const trouble =
    (what: string) =>
    (error: unknown): undefined => {
      troubles.push(`${what}: ${messageOf(error).split("\n")[0]?.slice(0, 150) ?? ""}`);
    };
  const nodes = ((await page
    .ariaSnapshotJSON({ mode: "ai", boxes: true, timeout: SNAPSHOT_LIMIT_MS })
    .catch(trouble("the page could not be read"))) ?? []) as unknown as SnapshotNode[];
  const reading = readThroughCdp(page, countNodes(nodes), troubles).catch(trouble("the page could not be looked into"));
  const isRead = await settledWithin(reading, FACTS_LIMIT_MS);
  if (!isRead) troubles.push(`the page could not be looked into within ${FACTS_LIMIT_MS} ms`);
  const more = isRead ? await reading : undefined;
  const canvases = (await readCanvases(page).catch(trouble("canvases could not be found"))) ?? [];
  return {
    nodes,
    facts: more?.facts ?? NO_FACTS,
    pseudo: [...canvases, ...(more?.closed ?? [])],
    hasCanvas: canvases.length > 0,
    troubles,
  };
}
