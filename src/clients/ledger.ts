/** What was edited in files of clients, so that it can be undone. Knows nothing of their content but its hash. A record that is not wholly ours is refused: taken for an empty one, it would be written over. */
import { join } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { isKeys } from "../config/field.ts";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";

export interface LedgerEntry {
  readonly client: string;
  readonly file: string;
  /** What undoing brings back: the file as a copy has it, or none at all, or only the entry is taken out. */
  readonly back: { readonly copy: string; readonly hash: string } | "nothing" | "entry";
  /** Of the file as we wrote it. */
  readonly after: string;
  /** Created for the file, the innermost first. */
  readonly folders: readonly string[];
  /** Servers of the client's that were taken out of its list. */
  readonly taken?: readonly TakenOut[];
}

/** The keys that lead to an entry. */
export type KeyPath = readonly string[];

/** Where entries stood, and a copy of the file that still has them. */
export interface TakenOut {
  readonly copy: string;
  readonly hash: string;
  readonly at: readonly KeyPath[];
}

/** Nobody else of ours edits a client's file meanwhile. `save` writes what undoing needs before the file itself is touched. */
export async function withLedger<T>(
  home: string,
  run: (edits: readonly LedgerEntry[], save: (edits: readonly LedgerEntry[]) => Promise<void>) => Promise<T>,
): Promise<T> {
  const path = join(home, "clients.json");
  const save = async (edits: readonly LedgerEntry[]): Promise<void> => {
    await writeAtomic(path, `${JSON.stringify({ edits }, undefined, 2)}\n`);
  };
  return await withLock(path, async () => await run(await readLedger(home), save));
}

/** Throws ConfigError. */
export async function readLedger(home: string): Promise<readonly LedgerEntry[]> {
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

/** Undefined if anything in it is not as we write it. */
function editsIn(text: string): readonly LedgerEntry[] | undefined {
  try {
    const file: unknown = JSON.parse(text);
    const edits = isKeys(file) ? file["edits"] : undefined;
    return Array.isArray(edits) && edits.every(isRecord) ? edits : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is LedgerEntry {
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
