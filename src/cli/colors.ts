import pc from "picocolors";

type Colors = ReturnType<typeof pc.createColors>;

/** Only a terminal has this set; for a pipe or a file it is undefined, whatever the types of Node say. */
interface Stream {
  readonly isTTY?: boolean;
}

/** Whether a stream is to be written in colours: FORCE_COLOR and NO_COLOR first, then whether a terminal shows it. */
export function hasColors(stream: Stream, environment: NodeJS.ProcessEnv = process.env): boolean {
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: term } = environment;
  if (no !== "") return false;
  if (force !== "") return force !== "0";
  // picocolors' own guess takes CI for a terminal, and then what a script reads from a pipe is full of codes.
  return stream.isTTY === true && term !== "dumb";
}

/** The colours of a stream; plain text where it has none. */
export function colorsFor(stream: Stream): Colors {
  return pc.createColors(hasColors(stream));
}
