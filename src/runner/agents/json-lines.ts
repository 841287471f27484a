/** Objects of a JSON-lines output; human lines between them, and lines that were cut, are left out. */
export function jsonLines(text: string): readonly Record<string, unknown>[] {
  // Not at every line end that Unicode knows: U+2028 may stand inside a string.
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}
