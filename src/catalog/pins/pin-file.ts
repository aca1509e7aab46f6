/**
 * The format of a file of pins: the approved tools of one server, one entry per identity and list key. A file
 * with any invalid part is refused as a whole. No I/O.
 */
import type { ListKey } from "../../kernel/list-key.ts";

export interface Pin {
  readonly name: string;
  readonly hash: string;
  /** The text that the hash is computed from, to show what changed; left out if it is large. */
  readonly definition?: string;
  /** True for a tool that was listed after the approval and is not approved yet. */
  readonly fresh?: true;
  /** The hash of the definition that was last reported to the user. */
  readonly told?: string;
  /**
   * "suspect": it had a hard sign, and nobody approved it. It stays so until somebody does, whatever else is
   * known later. "reviewed": a person approved this form.
   */
  readonly sight?: "suspect" | "reviewed";
}

export interface PinEntry {
  readonly identity: string;
  /** The list key; missing in entries that apply to every key. */
  readonly key?: ListKey;
  /** The hash of the last list, as written, in which every tool was approved. */
  readonly digest?: string;
  readonly tools: readonly Pin[];
}

const FORMAT = "metamcp pins 1";
/** Several projects may use one name for different servers. The entry that was written first is dropped. */
const MAX_ENTRIES = 96;

/** Newest first. Throws if any part is invalid. */
export function decodePins(text: string): readonly PinEntry[] {
  const file = JSON.parse(text) as { format?: unknown; entries?: unknown } | null;
  if (file?.format !== FORMAT || !Array.isArray(file.entries)) throw new Error("it is not a file of pins");
  if (!file.entries.every(isEntry)) throw new Error("an entry in it is damaged");
  return file.entries;
}

/** Keeps an entry without a key: it applies to every key that has no entry. */
export function encodePins(entry: PinEntry, others: readonly PinEntry[]): string {
  const rest = others.filter(({ identity, key }) => identity !== entry.identity || key !== entry.key);
  return `${JSON.stringify({ format: FORMAT, entries: [entry, ...rest].slice(0, MAX_ENTRIES) })}\n`;
}

function isEntry(value: unknown): value is PinEntry {
  const { identity, key, digest, tools } = (value ?? {}) as Record<string, unknown>;
  if (typeof identity !== "string" || !isTextOrNone(key)) return false;
  return isTextOrNone(digest) && Array.isArray(tools) && tools.every(isPin);
}

function isPin(value: unknown): value is Pin {
  const { name, hash, definition, fresh, told, sight } = (value ?? {}) as Record<string, unknown>;
  const named = typeof name === "string" && typeof hash === "string";
  if (sight !== undefined && sight !== "suspect" && sight !== "reviewed") return false;
  return named && isTextOrNone(definition) && isTextOrNone(told) && (fresh === undefined || fresh === true);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
