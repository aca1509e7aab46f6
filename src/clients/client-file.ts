/**
 * Reads and writes a client's file as bytes. Replaces it atomically and keeps its link and mode. Refuses
 * anything but UTF-8 text.
 */
import { createHash } from "node:crypto";
import { lstat, readFile, rm, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { codeOf, isAbsent, writeAtomic } from "../home/file.ts";
import type { ClientFilePlace, ClientProgram, Machine } from "./client.ts";

/** A client and its file to edit. */
export interface ClientFile {
  readonly client: ClientProgram;
  readonly file: string;
}

/** The files to edit of all installed clients. */
export async function installed(
  clients: readonly ClientProgram[],
  machine: Machine,
): Promise<readonly ClientFile[]> {
  const all = clients.flatMap((client) => client.places(machine).map((place) => ({ client, place })));
  const found = await Promise.all(
    all.map(async ({ client, place }) => {
      const file = await fileOf(place);
      return (await exists(file)) || (await exists(place.folder)) ? [{ client, file }] : [];
    }),
  );
  return found.flat();
}

async function fileOf({ files }: ClientFilePlace): Promise<string> {
  for (const file of files) if (await exists(file)) return file;
  return files.at(-1) ?? files[0];
}

export async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** Undefined if there is no file. */
export async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    // Reading a pipe could block forever.
    if (!(await stat(path)).isFile()) throw new ConfigError(path, "it is not a regular file");
    return await readFile(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (!isAbsent(error)) throw new ConfigError(path, `cannot be read (${codeOf(error) ?? "unknown fault"})`);
    // Writing would replace the link by a file.
    if (await exists(path)) throw new ConfigError(path, "it is a broken link; fix it first");
    return undefined;
  }
}

/** Keeps a byte order mark. */
export function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError(path, "it is not UTF-8 text; save it as UTF-8 first");
  }
}

/** The error of one file as a message for the user. */
export function faultOf(error: unknown, path: string): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof RangeError) return `${path}: it is too large or nested too deeply`;
  return `${path}: ${(error as Error).message}`;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function writeBytes(path: string, bytes: string | Uint8Array): Promise<void> {
  await writeAtomic(path, bytes, { mode: "keep" });
}

/** The folders that writing the file would create, the innermost first. */
export async function missingFolders(file: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let folder = dirname(file); !(await exists(folder)); folder = dirname(folder)) missing.push(folder);
  return missing;
}

/** Keeps folders that are not empty. */
export async function removeWithFolders(file: string, folders: readonly string[]): Promise<void> {
  await rm(file, { force: true });
  for (const folder of folders) {
    const gone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!gone && (await stat(folder).catch(() => undefined))) return;
  }
}
