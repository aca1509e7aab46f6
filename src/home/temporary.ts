/** What is built beside its target until it is whole: how it is named, and how what the dead left of it goes. Touches nothing of the living, nor of other users. */
import { createHash, randomBytes } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { here, lives } from "./living.ts";

/** The place and the process it belongs to, then what is never used twice. */
const NAME = /^\..+\.metamcp-([\da-f]{8})-(\d+)-[\da-f]{16}\.tmp$/;
/** Whether a process of another place lives cannot be known, but nobody builds for so long. */
const FOREIGN_AFTER_MS = 3_600_000;

/** In the folder of the target, so that it can take its place in one step. */
export function temporaryBeside(target: string): string {
  const owner = `${placeMark()}-${process.pid}-${randomBytes(8).toString("hex")}`;
  return join(dirname(target), `.${basename(target)}.metamcp-${owner}.tmp`);
}

/** Removes what those left in the folder who were killed. Never rejects: what stays is in nobody's way. */
export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, place, pid] = NAME.exec(name) ?? [];
    if (place === undefined) continue;
    await removeIfLeft(join(folder, name), place, Number(pid)).catch(() => {});
  }
}

async function removeIfLeft(path: string, place: string, pid: number): Promise<void> {
  const { uid, mtimeMs } = await lstat(path);
  // Windows has no user numbers.
  if (uid !== (process.geteuid?.() ?? uid)) return;
  const left = place === placeMark() ? !lives(pid) : Date.now() - mtimeMs > FOREIGN_AFTER_MS;
  if (left) await rm(path, { recursive: true, force: true });
}

function placeMark(): string {
  return createHash("sha256").update(here()).digest("hex").slice(0, 8);
}
