/**
 * Names temporary files and folders, and removes those of dead processes. Never removes those of living
 * processes or of other users.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlive, pidNamespace } from "./process-alive.ts";

/** Contains the hash of the PID namespace, the pid and a random part. */
const NAME = /^\..+\.metamcp-([\da-f]{8})-(\d+)-[\da-f]{16}\.tmp$/;
/** It is unknown whether a process in another PID namespace is alive, but no write takes this long. */
const FOREIGN_STALE_MS = 3_600_000;

/** A path in the folder of the target, so that one rename can replace the target. */
export function temporaryBeside(target: string): string {
  const owner = `${pidNamespaceHash()}-${process.pid}-${randomBytes(8).toString("hex")}`;
  return join(dirname(target), `.${basename(target)}.metamcp-${owner}.tmp`);
}

/**
 * Removes temporary files of killed processes from the folder. Never rejects, because leftover files do no
 * harm.
 */
export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, ownerHash, pid] = NAME.exec(name) ?? [];
    if (ownerHash === undefined) continue;
    await removeIfStale(join(folder, name), ownerHash, Number(pid)).catch(() => {});
  }
}

async function removeIfStale(path: string, ownerHash: string, pid: number): Promise<void> {
  const { uid, mtimeMs } = await lstat(path);
  // Windows has no user numbers.
  if (uid !== (process.geteuid?.() ?? uid)) return;
  const stale = ownerHash === pidNamespaceHash() ? !isAlive(pid) : Date.now() - mtimeMs > FOREIGN_STALE_MS;
  if (stale) await rm(path, { recursive: true, force: true });
}

function pidNamespaceHash(): string {
  return createHash("sha256").update(pidNamespace()).digest("hex").slice(0, 8);
}
