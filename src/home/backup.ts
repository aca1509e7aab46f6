/**
 * Copies a user's file before it is edited. Keeps the newest 50 copies of each file; never changes the
 * original.
 */
import { createHash } from "node:crypto";
import { open, readdir, readFile, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { codeOf, isAbsent, makeFolder } from "./file.ts";
import { safeName } from "./safe-name.ts";

const MAX_COPIES = 50;

/**
 * Copies `path` into `<home>/backups` (0600). Resolves with the copy's path, or undefined if there is nothing
 * to copy.
 */
export async function backup(path: string, home: string, now: Date): Promise<string | undefined> {
  let data: Buffer;
  try {
    data = await readFile(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const folder = join(home, "backups");
  await makeFolder(folder);
  const stem = stemOf(path);
  const copy = await writeFresh(join(folder, `${stem}.${now.toISOString().replaceAll(":", "-")}`), data);
  await prune(folder, stem);
  return copy;
}

/**
 * The file name plus a hash of the full path, so that files with the same name in different folders differ.
 */
function stemOf(path: string): string {
  const pathHash = createHash("sha256").update(resolve(path)).digest("hex").slice(0, 8);
  return `${safeName(basename(path).replace(/^\.+/, ""))}.${pathHash}`;
}

/**
 * Writes a file that does not exist yet. Adds a counter to the name if two edits happen in the same
 * millisecond.
 */
async function writeFresh(path: string, data: Buffer): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const candidate = attempt === 0 ? path : `${path}.${attempt}`;
    try {
      const file = await open(candidate, "wx", 0o600);
      try {
        await file.writeFile(data);
        await file.sync();
      } finally {
        await file.close();
      }
      return candidate;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

async function prune(folder: string, stem: string): Promise<void> {
  const copies = (await readdir(folder)).filter((name) => name.startsWith(`${stem}.`)).sort();
  await Promise.all(copies.slice(0, -MAX_COPIES).map((name) => rm(join(folder, name), { force: true })));
}
