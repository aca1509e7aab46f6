/** Lists the files below a folder. Follows no links, and skips what begins with a dot. */
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface FoundFile {
  /** Below the folder, with slashes. */
  readonly name: string;
  readonly stats: Stats;
}

const MAX_DEPTH = 16;
const MAX_FOUND = 20_000;
/** A backslash would be a separator elsewhere, and a name that is no UTF-8 cannot be addressed. */
const UNUSABLE = /[\\\p{C}\ufffd]/u;

/** Rejects if the folder itself cannot be read, or holds too much. `skipped` is told what is left out. */
export async function walk(root: string, skipped: (problem: string) => void): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  const enter = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      if (UNUSABLE.test(entry.name)) skipped(`${name} has a name that cannot be in an address`);
      else if (entry.isDirectory() && depth < MAX_DEPTH) await enter(name, depth + 1);
      else if (entry.isFile()) {
        const stats = await lstat(join(root, name)).catch(() => undefined);
        if (stats) found.push({ name, stats });
      } else skipped(`${name} is a link, or no plain file or folder`);
      if (found.length > MAX_FOUND) throw new Error(`${root} has more than ${MAX_FOUND} files`);
    }
  };
  await enter("", 0);
  return found;
}

/** Changes with every change of the file that the file system notices. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(":");
}
