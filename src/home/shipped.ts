/** Reads data files that ship with the package, below `data/`. A missing file is not an error. */
import { open, readdir } from "node:fs/promises";

/** The package root is a different number of folders up in the source tree and in the bundle. */
const MAX_LEVELS_UP = 4;

/** `name` is relative to `data/`, e.g. "gallery/gallery.json". Undefined if the file does not exist. */
export function readShipped(name: string): Promise<Buffer | undefined> {
  return inData(name, readWhole);
}

/**
 * At once, into memory of its own: `readFile` collects parts, so a large file takes twice its size for a
 * while.
 */
async function readWhole(url: URL): Promise<Buffer> {
  const file = await open(url);
  try {
    const bytes = Buffer.allocUnsafeSlow((await file.stat()).size);
    const { bytesRead } = await file.read(bytes);
    if (bytesRead !== bytes.length) throw new Error(`${url.href} was not read completely`);
    return bytes;
  } finally {
    await file.close();
  }
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
