/** Text from outside for a terminal: control characters other than line ends and tabs are shown, not obeyed. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}

/** Every line of a text moved to the right. */
export function indent(text: string, by: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : by + line))
    .join("\n");
}
