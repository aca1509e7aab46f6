/** Reads data files that ship with the package, below `data/`. A missing file is not an error. */
import { readFile } from "node:fs/promises";

/** The package root is a different number of folders up in the source tree and in the bundle. */
const MAX_LEVELS_UP = 4;

/** `name` is relative to `data/`, e.g. "gallery/gallery.json". Undefined if the file does not exist. */
export async function readShipped(name: string): Promise<Buffer | undefined> {
  for (let up = 1; up <= MAX_LEVELS_UP; up++) {
    const bytes = await readFile(new URL(`${"../".repeat(up)}data/${name}`, import.meta.url)).catch(
      () => undefined,
    );
    if (bytes) return bytes;
  }
  return undefined;
}
