/** How to print. */
export interface TableOptions {
  /** Colours and bold type; off where the output is no terminal. */
  readonly useColor: boolean;
}

// Only the line under the head: frames around every cell make the numbers harder to find.
/** Frames of a table without frames. */
export const BARE = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "  ",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};
/** Padding and colours of a table: none. */
export const STYLE = { "padding-left": 0, "padding-right": 0, head: [], border: [] };

/** A table's lines without blanks at their ends. */
export function trimEnds(text: string): string[] {
  return text.split("\n").map((line) => line.trimEnd());
}
