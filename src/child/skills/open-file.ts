/** Opens a file below a folder, and refuses one that a link leads to or that is no plain file. */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";

/** `root` must be a real path. */
export async function openFile(
  root: string,
  path: string,
): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
  // Not blocking: a pipe without a writer would never open.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is no plain file`);
    // A folder on the way may have become a link meanwhile. What was opened must be what lies below the root.
    const real = await realpath(path);
    const there = await stat(real);
    if (!real.startsWith(root + sep) || there.ino !== stats.ino || there.dev !== stats.dev)
      throw new Error(`${path} leads out of ${root}`);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The content of a file of at most `most` bytes. */
export async function readWithin(root: string, path: string, most: number): Promise<Buffer> {
  const { handle, stats } = await openFile(root, path);
  try {
    if (stats.size > most) throw new Error(`${path} has more than ${most} bytes`);
    // One more byte tells whether the file grew.
    const content = Buffer.alloc(stats.size + 1);
    let length = 0;
    while (length < content.length) {
      const { bytesRead } = await handle.read(content, length, content.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > stats.size) throw new Error(`${path} is being written`);
    return content.subarray(0, length);
  } finally {
    await handle.close();
  }
}
