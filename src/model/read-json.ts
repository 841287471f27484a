import { getNodeValue, parseTree, type Node, type ParseError } from "jsonc-parser";

/** JSON found in a reply, or what is wrong with it in one sentence. */
export type FoundJson =
  | { readonly isFound: true; readonly value: unknown }
  | { readonly isFound: false; readonly wrong: string };

/**
 * Finds the one JSON object of a reply: bare, in a Markdown fence, or with words around it; after a byte order mark or a thinking
 * block; trailing commas and comments are read over. What is cut, there twice, or answers twice (a doubled key) is not guessed at.
 */
export function readJson(reply: string): FoundJson {
  const text = withoutThinking(reply.replace(/^\uFEFF/u, "")).trim();
  if (text === "") return wrong("it holds no answer");
  const fences = [...text.matchAll(/```[a-z0-9]*[ \t]*\r?\n(.*?)```/gsu)].map(([, inner]) => inner ?? "");
  if (fences.length > 1) return wrong(`it holds ${fences.length} fenced blocks instead of one`);
  const body = (fences[0] ?? text).trim();
  const whole = parseStrictly(body);
  if (whole.isFound) return whole;
  const from = body.indexOf("{");
  const to = body.lastIndexOf("}");
  if (from === -1) return wrong("it holds no JSON object");
  // Cut JSON may still hold a closing brace of something inside; then the slice does not parse.
  return to < from || (from === 0 && to === body.length - 1) ? whole : parseStrictly(body.slice(from, to + 1));
}

const wrong = (text: string): FoundJson => ({ isFound: false, wrong: text });

function withoutThinking(text: string): string {
  const start = /^\s*<(think|thinking)>/u.exec(text);
  if (start === null) return text;
  const end = `</${start[1]}>`;
  const at = text.indexOf(end);
  return at === -1 ? "" : text.slice(at + end.length);
}

function parseStrictly(text: string): FoundJson {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const first = errors[0];
  if (tree === undefined || first !== undefined) {
    return wrong(
      `its JSON cannot be read at character ${(first?.offset ?? 0) + 1} (it may be cut, or hold more than one value)`,
    );
  }
  const doubled = doubledKey(tree);
  if (doubled !== null) return wrong(`its JSON has the key ${JSON.stringify(doubled)} twice in one object`);
  return { isFound: true, value: getNodeValue(tree) as unknown };
}

function doubledKey(node: Node): string | null {
  const children = node.children ?? [];
  if (node.type === "object") {
    const keys = children.map((property) => String(property.children?.[0]?.value));
    const doubled = keys.find((key, index) => keys.indexOf(key) !== index);
    if (doubled !== undefined) return doubled;
  }
  for (const child of children) {
    const doubled = doubledKey(child);
    if (doubled !== null) return doubled;
  }
  return null;
}
