/** A copy of a user's file before it is edited. Keeps the newest copies of each file; never touches the original. */
import { createHash } from "node:crypto";
import { open, readdir, readFile, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { codeOf, isAbsent, makeFolder } from "./file.ts";
import { safeName } from "./safe-name.ts";

const KEPT = 50;

/** Copies `path` into `<home>/backups` (0600). Resolves with the copy's path, or undefined if there is nothing to copy. */
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

/** Files of one name in different folders are told apart. */
function stemOf(path: string): string {
  const where = createHash("sha256").update(resolve(path)).digest("hex").slice(0, 8);
  return `${safeName(basename(path).replace(/^\.+/, ""))}.${where}`;
}

/** Two edits within one millisecond both keep their copy. */
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
  await Promise.all(copies.slice(0, -KEPT).map((name) => rm(join(folder, name), { force: true })));
}
