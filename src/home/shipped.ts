/** Reads data files that ship with the package, below `data/`. A missing file is not an error. */
import { readdir, readFile } from "node:fs/promises";

/** The package root is a different number of folders up in the source tree and in the bundle. */
const MAX_LEVELS_UP = 4;

/** `name` is relative to `data/`, e.g. "gallery/gallery.json". Undefined if the file does not exist. */
export function readShipped(name: string): Promise<Buffer | undefined> {
  return inData(name, (url) => readFile(url));
}

/** All files of a folder, ordered by name. Empty if the folder does not exist. */
export async function readShippedFolder(name: string): Promise<Buffer[]> {
  const files = (await inData(name, (url) => readdir(url))) ?? [];
  const contents = await Promise.all(files.sort().map((file) => readShipped(`${name}/${file}`)));
  return contents.filter((bytes) => bytes !== undefined);
}

async function inData<T>(name: string, read: (url: URL) => Promise<T>): Promise<T | undefined> {
  for (let up = 1; up <= MAX_LEVELS_UP; up++) {
    const found = await read(new URL(`${"../".repeat(up)}data/${name}`, import.meta.url)).catch(
      () => undefined,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
