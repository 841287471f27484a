import { Readable } from "node:stream";
import { extract, pack, type Header } from "tar-stream";

/** The user inside a place that owns its files. */
const PLACE_UID = 1000;

/** One entry of a tar stream; its body has to be read (or drained) before the next entry comes. */
export interface TarEntry {
  readonly header: Header;
  readonly body: AsyncIterable<Uint8Array>;
  /** Skips the body. */
  drain(): void;
}

/** Entries of a tar stream in its order; errors of the stream are thrown. */
export async function* readTar(stream: Readable): AsyncGenerator<TarEntry> {
  const entries = extract();
  stream.pipe(entries);
  stream.once("error", (error) => entries.destroy(error));
  for await (const source of entries) {
    yield { header: source.header, body: source as AsyncIterable<Uint8Array>, drain: () => source.resume() };
  }
}

/** A file to put into a tar stream. */
export type TarFile =
  | { readonly path: string; readonly mode: number; readonly bytes: Uint8Array }
  | { readonly path: string; readonly linkTo: string };

/** A tar stream of files that belong to the place's user, with a fixed date, so that equal files give equal bytes. */
export function packTar(files: AsyncIterable<TarFile> | Iterable<TarFile>): Readable {
  const out = pack();
  const fill = async (): Promise<void> => {
    for await (const file of files) {
      const common = { name: file.path, uid: PLACE_UID, gid: PLACE_UID, mtime: new Date(0) };
      if ("linkTo" in file) out.entry({ ...common, type: "symlink", linkname: file.linkTo });
      else out.entry({ ...common, mode: file.mode }, file.bytes);
    }
    out.finalize();
  };
  fill().catch((error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error))));
  return Readable.from(out as AsyncIterable<Uint8Array>, { objectMode: false });
}
