/**
 * The format of a schema.json: definitions byte by byte as the child sent them, one entry per identity and
 * list key. No I/O.
 */
import type { ServerId } from "../kernel/call.ts";
import type { ListKey } from "../kernel/list-key.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { elements, isObject, joinObject, members } from "../rpc/slice.ts";
import { type About, readAbout, sameAbout } from "./about.ts";
import { ITEM_KINDS, ITEM_LISTS, type Item, type ItemKind, type Items } from "./item.ts";
import { isArray, joinArray } from "./json-array.ts";
import type { ListedKind } from "./known-list.ts";
import { readTool } from "./read-tool.ts";
import { sameEntries } from "./same.ts";
import type { Tool } from "./tool.ts";

/** A file with another format text is ignored. */
const FORMAT = toRaw("metamcp tools 1");

/** The lists of one server as stored on disk. */
export interface CachedList extends Items {
  readonly tools: readonly Tool[];
  readonly about: About;
}

/** The server identity and list key that a stored list belongs to. */
export interface ListOwner {
  readonly identity: string;
  /** Undefined if the list was stored without a key. */
  readonly key: ListKey | undefined;
}

/** Each list is an array of definitions; undefined if it was never requested. */
export interface CacheEntry extends ListOwner, Readonly<Partial<Record<ItemKind, Raw>>> {
  readonly about: Raw | undefined;
  readonly tools: Raw;
}

/** Throws if the text is not JSON. Skips invalid entries. */
export function decodeEntries(text: string): readonly CacheEntry[] {
  JSON.parse(text);
  // A user may have reformatted the file. Messages are sent as single lines, so a definition must not contain
  // a line break.
  const file = asRaw(Buffer.from(text.trim().replaceAll(/[\r\n]/g, " ")));
  if (!isObject(file)) return [];
  const [format, entries] = members(file, ["format", "entries"]);
  if (!format?.equals(FORMAT) || !entries || !isArray(entries)) return [];
  return elements(entries).flatMap((raw) => decodeEntry(raw) ?? []);
}

function decodeEntry(raw: Raw): CacheEntry | undefined {
  if (!isObject(raw)) return undefined;
  const names = ["identity", "key", "about", "tools", ...ITEM_KINDS];
  const [rawIdentity, rawKey, about, tools, ...items] = members(raw, names);
  const identity = rawIdentity && fromRaw(rawIdentity);
  const key = rawKey && fromRaw(rawKey);
  if (typeof identity !== "string" || !tools || !isArray(tools)) return undefined;
  const entry: CacheEntry = { identity, key: typeof key === "string" ? key : undefined, about, tools };
  return Object.assign(
    entry,
    byKind((_, at) => (items[at] && isArray(items[at]) ? items[at] : undefined)),
  );
}

export function encodeEntries(entries: readonly CacheEntry[]): Raw {
  const written = entries.map((entry) =>
    joinObject([
      ["identity", toRaw(entry.identity)],
      ["key", entry.key === undefined ? undefined : toRaw(entry.key)],
      ["about", entry.about],
      ["tools", entry.tools],
      ...ITEM_KINDS.map((kind) => [kind, entry[kind]] as const),
    ]),
  );
  return joinObject([
    ["format", FORMAT],
    ["entries", joinArray(written)],
  ]);
}

/** Lists that this process has not requested are kept from the stored entry. */
export function entryOf(
  { identity, key }: ListOwner,
  list: CachedList,
  before: CacheEntry | undefined,
): CacheEntry {
  const entry: CacheEntry = { identity, key, about: toRaw(list.about), tools: written(list.tools) };
  return Object.assign(
    entry,
    byKind((kind) => (list[kind] ? written(list[kind]) : before?.[kind])),
  );
}

/** Keeps the stored lists except those that changed. */
export function withChanged(
  entry: CacheEntry,
  stored: CacheEntry | undefined,
  changed: readonly ListedKind[],
): CacheEntry {
  if (!stored) return entry;
  const merged = changed.includes("tools") ? entry : { ...entry, about: stored.about, tools: stored.tools };
  return Object.assign(
    { ...merged },
    byKind((kind) => (changed.includes(kind) ? entry[kind] : (stored[kind] ?? entry[kind]))),
  );
}

function written(items: readonly { readonly definition: Raw }[]): Raw {
  return joinArray(items.map((item) => item.definition));
}

/** Skips invalid and duplicate tools and items, as in the list of a child. */
export function listOf(server: ServerId, entry: CacheEntry): CachedList {
  const list: CachedList = { tools: read(server, entry.tools, readTool), about: readAbout(entry.about) };
  return Object.assign(
    list,
    byKind((kind): readonly Item[] | undefined => {
      const raw = entry[kind];
      return raw && read(server, raw, ITEM_LISTS[kind].read);
    }),
  );
}

function read<T extends { readonly name: string }>(
  server: ServerId,
  list: Raw,
  one: (server: ServerId, definition: Raw) => T | undefined,
): readonly T[] {
  const byName = new Map<string, T>();
  for (const definition of elements(list)) {
    const entry = one(server, definition);
    if (entry && !byName.has(entry.name)) byName.set(entry.name, entry);
  }
  return [...byName.values()];
}

export function sameOwner(a: ListOwner, b: ListOwner): boolean {
  return a.identity === b.identity && a.key === b.key;
}

export function sameEntry(a: CacheEntry, b: CacheEntry): boolean {
  if (!sameOwner(a, b) || !sameAbout(readAbout(a.about), readAbout(b.about))) return false;
  const asWritten = a.tools.equals(b.tools) && ITEM_KINDS.every((kind) => equal(a[kind], b[kind]));
  return asWritten || sameLists(listOf("", a), listOf("", b));
}

function equal(a: Raw | undefined, b: Raw | undefined): boolean {
  return a && b ? a.equals(b) : a === b;
}

function sameLists(a: CachedList, b: CachedList): boolean {
  return sameEntries(a.tools, b.tools) && ITEM_KINDS.every((kind) => sameEntries(a[kind], b[kind]));
}

function byKind<T>(choose: (kind: ItemKind, at: number) => T | undefined): { [kind in ItemKind]?: T } {
  const found: { [kind in ItemKind]?: T } = {};
  for (const [at, kind] of ITEM_KINDS.entries()) {
    const value = choose(kind, at);
    if (value !== undefined) found[kind] = value;
  }
  return found;
}
