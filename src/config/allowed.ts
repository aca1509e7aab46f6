/**
 * Folder consent: a config file that was found in the working directory is used only if the user has allowed
 * its servers for that folder. The record is `allowed.json` in METAMCP_HOME.
 */
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { visible } from "../kernel/visible.ts";
import { ConfigError } from "./config-error.ts";
import { type ConsentItem, consentItems, digestOf } from "./consent.ts";
import { isKeys, type Keys } from "./field.ts";

/** A found config file that the user has not allowed yet. */
export interface Withheld {
  /** The absolute path of the file. */
  readonly path: string;
  /** Its folder, with symbolic links resolved. */
  readonly folder: string;
  /** Everything that the file would run, including what was allowed before. */
  readonly runs: readonly ConsentItem[];
  readonly reason: string;
}

export interface FileConsent {
  /** The path of the record. Watch it: a change of it may change what is allowed. */
  readonly record: string;
  /** Whether a change of this file needs permission. */
  guards(path: string): boolean;
  /**
   * Undefined if everything in the file is allowed. The caller must use this same `file` afterwards, so that
   * nothing changes in between.
   */
  check(path: string, file: Keys): Promise<Withheld | undefined>;
}

/** The name of a config file that is found in the working directory. */
export const FOUND_NAME = ".mcp.json";

/** Undefined if the user named the file by flag or variable: it then needs no consent. */
export function folderConsent(asked: string | undefined, cwd: string, home: string): FileConsent | undefined {
  if (asked !== undefined) return undefined;
  const found = resolve(cwd, FOUND_NAME);
  const guards = (path: string): boolean => resolve(path) === found;
  return {
    record: recordPath(home),
    guards,
    check: async (path, file) => (guards(path) ? await withheldIn(found, file, home) : undefined),
  };
}

async function withheldIn(path: string, file: Keys, home: string): Promise<Withheld | undefined> {
  const runs = consentItems(file);
  if (runs.length === 0) return undefined;
  const folder = await realpath(dirname(path));
  const record = await readRecord(home);
  const allowed = record?.get(folder);
  if (allowed && runs.every(({ digest }) => allowed.has(digest))) return undefined;
  return {
    path,
    folder,
    runs,
    reason: reasonFor(path, { damaged: !record, changed: allowed !== undefined }),
  };
}

function reasonFor(path: string, { damaged, changed }: { damaged: boolean; changed: boolean }): string {
  const folder = dirname(path);
  if (damaged) return `the permission for ${folder} cannot be read; run "metamcp allow" there`;
  return changed
    ? `${path} runs or connects to something that you have not allowed yet; run "metamcp allow" in ${folder} to review it`
    : `${path} is not allowed yet; run "metamcp allow" in ${folder} to review it`;
}

/** Records that the user allowed exactly these, and forgets what was allowed for the folder before. */
export async function allow({ folder, runs }: Withheld, home: string): Promise<void> {
  const digests = runs.map(({ digest }) => digest);
  await change(home, (record) => record.set(folder, new Set(digests)));
}

/**
 * Allows entries that MetaMCP wrote to the file on the user's request, so that they need no further consent.
 */
export async function allowWritten(path: string, entries: Iterable<object>, home: string): Promise<void> {
  if (basename(path) !== FOUND_NAME) return;
  const folder = await realpath(dirname(path));
  const digests = Array.from(entries, (entry) => digestOf(entry as Keys));
  await change(home, (record) => record.set(folder, new Set([...(record.get(folder) ?? []), ...digests])));
}

/** The question to a user at a client. It shows exactly what will run. */
export function questionOf({ path, runs }: Withheld): string {
  return [
    `Allow the MCP servers in ${path}? They run with all your permissions:`,
    ...runs.map(({ name, shown }) => `${visible(name)}: ${shown.join("; ")}`),
  ].join("\n");
}

type AllowedFolders = Map<string, ReadonlySet<string>>;

const recordPath = (home: string): string => join(home, "allowed.json");

async function change(home: string, edit: (record: AllowedFolders) => void): Promise<void> {
  const path = recordPath(home);
  await withLock(path, async () => {
    const record = await readRecord(home);
    if (!record) throw new ConfigError(path, "it is damaged; move it away to start a new one");
    edit(record);
    const folders = Object.fromEntries(Array.from(record, ([folder, digests]) => [folder, [...digests]]));
    await writeAtomic(path, `${JSON.stringify({ folders }, undefined, 2)}\n`);
  });
}

/** Undefined if the record is damaged: then nothing is allowed. */
async function readRecord(home: string): Promise<AllowedFolders | undefined> {
  const text = await readIfThere(recordPath(home));
  if (text === undefined) return new Map();
  try {
    const { folders } = JSON.parse(text) as Keys;
    if (!isKeys(folders)) return undefined;
    return new Map(
      Object.entries(folders).map(([folder, digests]) => [
        folder,
        new Set(Array.isArray(digests) ? (digests as string[]) : []),
      ]),
    );
  } catch {
    return undefined;
  }
}
