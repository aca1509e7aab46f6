/** Reads files, and writes them atomically: a reader never sees a partial write. Locking is in lock.ts. */
import { readFile, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { sweep, temporaryBeside } from "./temporary.ts";

export interface WriteOptions {
  /** "keep": the mode and owner of the existing file, or 0600 if there is none. */
  readonly mode?: number | "keep";
  /** Syncs the file to disk, so that it survives a power failure. Caches skip this because it is slow. */
  readonly durable?: boolean;
}

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Replaces the file by a rename and creates missing parent folders with mode 0700. Follows a symbolic link
 * and keeps it.
 */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = PRIVATE_FILE, durable = true }: WriteOptions = {},
): Promise<void> {
  const target = (await orUndefined(realpath(path))) ?? path;
  const folder = dirname(target);
  await makeFolder(folder);
  const existing = await orUndefined(stat(target));
  // The rename would remove a device, a pipe or a socket.
  if (existing && !existing.isFile()) throw new Error(`${path} is not a regular file, so it is not replaced`);
  const bits = mode === "keep" ? (existing?.mode ?? PRIVATE_FILE) & 0o777 : mode;
  // Runs before the write, because on a full disk the write may need the space.
  await sweep(folder);
  const temporary = temporaryBeside(target);
  try {
    const file = await open(temporary, "wx", bits);
    try {
      // The umask may have removed bits from the requested mode.
      await file.chmod(bits);
      if (mode === "keep" && existing) await keepOwner(file, existing);
      await file.writeFile(data);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw withPath(error, path);
  }
}

/** A full disk is reported without a path. */
function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && codeOf(error) !== undefined && !("path" in error))
    error.message += ` '${path}'`;
  return error;
}

/** Keeps the owner when root replaces a user's file. Other users cannot change the owner of a file. */
async function keepOwner(file: FileHandle, { uid, gid }: Stats): Promise<void> {
  if (process.geteuid?.() === 0) await file.chown(uid, gid);
}

/**
 * Creates the missing folders of the path with mode 0700; an existing folder stays unchanged. Creates them
 * one by one, because the recursive `mkdir` of Node never ends below /proc, where no folder can be created.
 */
export async function makeFolder(path: string): Promise<void> {
  const error = await tryMkdir(path);
  if (error === undefined) return;
  const parent = dirname(path);
  if (codeOf(error) !== "ENOENT" || parent === path) throw error;
  await makeFolder(parent);
  const secondError = await tryMkdir(path);
  if (codeOf(secondError) === "ENOENT")
    throw new Error(`${path} cannot be created: no folder can be created in ${parent}`);
  if (secondError !== undefined) throw secondError;
}

/** Returns the error, or undefined if the folder exists afterwards. */
async function tryMkdir(path: string): Promise<unknown> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER });
    return undefined;
  } catch (error) {
    const existing = await stat(path).catch(() => undefined);
    return existing?.isDirectory() ? undefined : error;
  }
}

/** The text of a file, or undefined if it does not exist. Throws on other errors. */
export async function readIfThere(path: string): Promise<string | undefined> {
  // Not of node:fs/promises, which takes 3 ms to load: each start reads the config.
  return await orUndefined(promisify(readFile)(path, "utf8"));
}

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
