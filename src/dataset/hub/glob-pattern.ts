/** A pattern of a dataset card as a regular expression: double and single stars, `?`, `[...]` and `{a,b}`, over the whole path. */
export function globPattern(glob: string): RegExp {
  const source = glob.replaceAll(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|\{[^{}]*\}|[\\^$.+()[\]{}|]/g, (sign) => {
    if (sign === "**/") return "(?:.*/)?";
    if (sign === "**") return ".*";
    if (sign === "*") return "[^/]*";
    if (sign === "?") return "[^/]";
    if (sign.length > 2 && sign.startsWith("[")) {
      const inside = sign.slice(1, -1).replaceAll("\\", "\\\\");
      return inside.startsWith("!") ? `[^${inside.slice(1)}]` : `[${inside.replace(/^\^/, "\\^")}]`;
    }
    if (sign.length > 1 && sign.startsWith("{")) {
      const choices = sign.slice(1, -1).split(",");
      return `(?:${choices.map((choice) => globPattern(choice).source.slice(1, -1)).join("|")})`;
    }
    return `\\${sign}`;
  });
  return new RegExp(`^${source}$`, "s");
}
