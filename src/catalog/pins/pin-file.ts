/** The form of a file of pins: what was approved of one server, one entry per identity and connection key. A file that is not wholly ours is refused, never read in part. No I/O. */
import type { ListKey } from "../../kernel/list-key.ts";

export interface Pin {
  readonly name: string;
  readonly hash: string;
  /** What the hash is of, to show what changed; left out where it is large. */
  readonly definition?: string;
  /** Seen since, and not approved yet. */
  readonly fresh?: true;
  /** The fingerprint of the change that the user was last told of. */
  readonly told?: string;
}

export interface PinEntry {
  readonly identity: string;
  /** Over which its list came; not known of entries that say nothing of it. */
  readonly key?: ListKey;
  /** Of the last list that was wholly approved, as written. */
  readonly digest?: string;
  readonly tools: readonly Pin[];
}

const FORMAT = "metamcp pins 1";
/** Projects that use one name for different servers; the one written longest ago goes. */
const KEPT_ENTRIES = 32;

/** Newest first. Throws if anything in it is not as we write it. */
export function decodePins(text: string): readonly PinEntry[] {
  const file = JSON.parse(text) as { format?: unknown; entries?: unknown } | null;
  if (file?.format !== FORMAT || !Array.isArray(file.entries)) throw new Error("it is not a file of pins");
  if (!file.entries.every(isEntry)) throw new Error("an entry in it is damaged");
  return file.entries;
}

/** What does not say over which key it came holds for each key until that has an entry of its own. */
export function encodePins(entry: PinEntry, others: readonly PinEntry[]): string {
  const rest = others.filter(({ identity, key }) => identity !== entry.identity || key !== entry.key);
  return `${JSON.stringify({ format: FORMAT, entries: [entry, ...rest].slice(0, KEPT_ENTRIES) })}\n`;
}

function isEntry(value: unknown): value is PinEntry {
  const { identity, key, digest, tools } = (value ?? {}) as Record<string, unknown>;
  if (typeof identity !== "string" || !isTextOrNone(key)) return false;
  return isTextOrNone(digest) && Array.isArray(tools) && tools.every(isPin);
}

function isPin(value: unknown): value is Pin {
  const { name, hash, definition, fresh, told } = (value ?? {}) as Record<string, unknown>;
  const named = typeof name === "string" && typeof hash === "string";
  return named && isTextOrNone(definition) && isTextOrNone(told) && (fresh === undefined || fresh === true);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
