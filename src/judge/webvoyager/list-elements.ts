/** What is told about a marked element. */
export interface ListedElement {
  readonly tag: string;
  /** The `type` property; empty where an element has none. */
  readonly type: string;
  /** Text content with its blanks collapsed, cut at 200 characters. */
  readonly text: string;
  readonly ariaLabel: string;
}

const TEXT_TYPES: ReadonlySet<string> = new Set(["text", "search", "password", "email", "tel"]);
const SHOWN_TAGS: ReadonlySet<string> = new Set(["button", "input", "textarea"]);

/** Whether typing into it is what it is for. */
export const isTextBox = ({ tag, type }: Pick<ListedElement, "tag" | "type">): boolean =>
  tag === "textarea" || (tag === "input" && TEXT_TYPES.has(type));

const isListedEmpty = ({ tag, type }: ListedElement): boolean =>
  isTextBox({ tag, type }) || (tag === "button" && (type === "submit" || type === "button"));

function listOne(element: ListedElement, label: number): string[] {
  const { tag, text, ariaLabel } = element;
  if (text === "") return isListedEmpty(element) ? [`[${label}]: <${tag}> "${ariaLabel}";`] : [];
  if (text.length >= 200) return [];
  const shown = SHOWN_TAGS.has(tag) ? `<${tag}> ` : "";
  const also = ariaLabel === "" || ariaLabel === text ? "" : `, "${ariaLabel}"`;
  return [`[${label}]: ${shown}"${text}"${also};`];
}

/** The text line of an observation: `[0]: <button> "Save", "Save the note";` and so on, with a TAB between entries. */
export const listElements = (elements: readonly ListedElement[]): string => elements.flatMap(listOne).join("\t");
