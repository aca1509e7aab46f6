/**
 * Records of edits in clients' files, so that they can be undone. Stores hashes, not contents. Refuses an
 * invalid file, because treating it as empty would overwrite it.
 */
import { join } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { isKeys } from "../config/field.ts";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";

export interface EditRecord {
  readonly client: string;
  readonly file: string;
  /**
   * What undo does: restore the file from the backup, delete the file ("nothing"), or only remove the entry
   * ("entry").
   */
  readonly back: { readonly copy: string; readonly hash: string } | "nothing" | "entry";
  /** The hash of the file that MetaMCP wrote. */
  readonly after: string;
  /** Folders that were created for the file, the innermost first. */
  readonly folders: readonly string[];
  /** Servers of the client that were removed from its list. */
  readonly taken?: readonly TakenOut[];
}

/** The keys that lead to an entry. */
export type KeyPath = readonly string[];

/** The paths of removed entries, and a backup of the file that contains them. */
export interface TakenOut {
  readonly copy: string;
  readonly hash: string;
  readonly at: readonly KeyPath[];
}

/**
 * Runs under a lock, so that no other MetaMCP process edits clients' files. Call `save` before the client's
 * file is changed.
 */
export async function withEditRecords<T>(
  home: string,
  run: (edits: readonly EditRecord[], save: (edits: readonly EditRecord[]) => Promise<void>) => Promise<T>,
): Promise<T> {
  const path = join(home, "clients.json");
  const save = async (edits: readonly EditRecord[]): Promise<void> => {
    await writeAtomic(path, `${JSON.stringify({ edits }, undefined, 2)}\n`);
  };
  return await withLock(path, async () => await run(await readEditRecords(home), save));
}

/** Throws ConfigError. */
export async function readEditRecords(home: string): Promise<readonly EditRecord[]> {
  const path = join(home, "clients.json");
  const text = await readIfThere(path);
  const edits = text === undefined ? [] : editsIn(text);
  if (edits) return edits;
  const copies = join(home, "backups");
  throw new ConfigError(
    path,
    `this record of the edits of init is damaged. The old files are in ${copies}; move the record away to start a new one`,
  );
}

/** Undefined if any part is invalid. */
function editsIn(text: string): readonly EditRecord[] | undefined {
  try {
    const file: unknown = JSON.parse(text);
    const edits = isKeys(file) ? file["edits"] : undefined;
    return Array.isArray(edits) && edits.every(isEditRecord) ? edits : undefined;
  } catch {
    return undefined;
  }
}

function isEditRecord(value: unknown): value is EditRecord {
  if (!isKeys(value)) return false;
  const { client, file, back, after, folders, taken = [] } = value;
  const known = back === "nothing" || back === "entry" || (isKeys(back) && typeof back["copy"] === "string");
  return (
    known &&
    [client, file, after].every((part) => typeof part === "string") &&
    Array.isArray(folders) &&
    Array.isArray(taken)
  );
}
