/** Files that are whole or not there: readers never see half a write. Locking is lock.ts. */
import type { Stats } from "node:fs";
import { type FileHandle, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { sweep, temporaryBeside } from "./temporary.ts";

export interface WriteOptions {
  /** "keep": as the file that is replaced, else 0600. */
  readonly mode?: number | "keep";
  /** Survives a power cut. Caches need not, and are written faster without. */
  readonly durable?: boolean;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Replaces the file in one step; missing parent folders are created for the owner alone. A symbolic link stays one. */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = PRIVATE_FILE, durable = true }: WriteOptions = {},
): Promise<void> {
  const target = (await orUndefined(realpath(path))) ?? path;
  const folder = dirname(target);
  await makeFolder(folder);
  const there = await orUndefined(stat(target));
  // A device or a pipe would be gone, for everyone.
  if (there && !there.isFile()) throw new Error(`${path} is not a regular file, so it is not replaced`);
  const bits = mode === "keep" ? (there?.mode ?? PRIVATE_FILE) & 0o777 : mode;
  // Before it is written: on a full disk it may need the room.
  await sweep(folder);
  const temporary = temporaryBeside(target);
  try {
    const file = await open(temporary, "wx", bits);
    try {
      // The umask may have taken bits away that the caller asked for.
      await file.chmod(bits);
      if (mode === "keep" && there) await keepOwner(file, there);
      await file.writeFile(data);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Root must not take a file away from the user whose it is; nobody else can give it back. */
async function keepOwner(file: FileHandle, { uid, gid }: Stats): Promise<void> {
  if (process.geteuid?.() === 0) await file.chown(uid, gid);
}

/**
 * Creates what is missing of the path, for the owner alone; a folder that is there stays as it is. One by one: the
 * system's own way to make several at once never ends below /proc, where none can be made.
 */
export async function makeFolder(path: string): Promise<void> {
  const fault = await attempt(path);
  if (fault === undefined) return;
  const parent = dirname(path);
  if (codeOf(fault) !== "ENOENT" || parent === path) throw fault;
  await makeFolder(parent);
  const still = await attempt(path);
  if (codeOf(still) === "ENOENT")
    throw new Error(`${path} cannot be created: no folder can be created in ${parent}`);
  if (still !== undefined) throw still;
}

/** Why there is no such folder now, if there is none. */
async function attempt(path: string): Promise<unknown> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER });
    return undefined;
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    return there?.isDirectory() ? undefined : error;
  }
}

/** The text of a file, or undefined if there is none. Other faults throw. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return await orUndefined(readFile(path, "utf8"));
}

/** Only the absence of the file is no fault. */
async function orUndefined<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

export function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
