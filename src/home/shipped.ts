/** Data that ships with the package, below `data/`. Read when first needed, absent without harm. */
import { readFile } from "node:fs/promises";

/** From the source tree and from the bundle the package's root is a few folders up. */
const FARTHEST_UP = 4;

/** `name` as in "gallery/gallery.json". Undefined if it is not there. */
export async function readShipped(name: string): Promise<Buffer | undefined> {
  for (let up = 1; up <= FARTHEST_UP; up++) {
    const bytes = await readFile(new URL(`${"../".repeat(up)}data/${name}`, import.meta.url)).catch(
      () => undefined,
    );
    if (bytes) return bytes;
  }
  return undefined;
}
