/**
 * Stores tool lists on disk for the next process. The lists may be outdated. Faulty files never cause an
 * error for the caller.
 */
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import type { ServerId } from "../kernel/call.ts";
import type { Log } from "../kernel/log.ts";
import {
  type CachedList,
  type CacheEntry,
  decodeEntries,
  encodeEntries,
  entryOf,
  type ListOwner,
  listOf,
  sameEntry,
  sameOwner,
} from "./cache-file.ts";
import type { KeyedList, ListStorage } from "./list-storage.ts";

/**
 * Several projects may use one name for different servers, and clients may have different list keys. The
 * oldest entry is dropped.
 */
const MAX_IDENTITIES = 8;
const MAX_KEYS = 4;

interface Unwritten {
  readonly owner: ListOwner;
  readonly list: CachedList;
}

export class ToolCache implements ListStorage {
  readonly #folder: string;
  readonly #log: Log;
  /** Lists to write, the newest last, and the running writes. */
  readonly #waiting = new Map<ServerId, readonly Unwritten[]>();
  readonly #writing = new Map<ServerId, Promise<void>>();
  #warned = false;

  constructor(parts: { home: string; log: Log }) {
    this.#folder = join(parts.home, "cache");
    this.#log = parts.log;
  }

  async read(server: ServerId, identity: string): Promise<readonly KeyedList[]> {
    const waiting = (this.#waiting.get(server) ?? []).filter(({ owner }) => owner.identity === identity);
    const stored = (await this.#entries(server)).filter(
      (entry) => entry.identity === identity && !waiting.some(({ owner }) => sameOwner(owner, entry)),
    );
    return [
      ...waiting.map(({ owner, list }) => ({ ...list, key: owner.key })).reverse(),
      ...stored.map((entry) => ({ ...listOf(server, entry), key: entry.key })),
    ];
  }

  /** Writes only if the list changed. */
  write(server: ServerId, owner: ListOwner, list: CachedList): void {
    const others = (this.#waiting.get(server) ?? []).filter((other) => !sameOwner(other.owner, owner));
    this.#waiting.set(server, [...others, { owner, list }]);
    if (!this.#writing.has(server)) this.#writing.set(server, this.#drain(server));
  }

  async flush(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
  }

  async #drain(server: ServerId): Promise<void> {
    await turn();
    for (let lists = this.#waiting.get(server); lists; lists = this.#waiting.get(server)) {
      this.#waiting.delete(server);
      await this.#save(server, lists);
    }
    this.#writing.delete(server);
  }

  async #save(server: ServerId, lists: readonly Unwritten[]): Promise<void> {
    const path = this.#pathOf(server);
    try {
      await withLock(path, async () => {
        const stored = await this.#entries(server);
        const fresh = lists
          .map(({ owner, list }) =>
            entryOf(
              owner,
              list,
              stored.find((other) => sameOwner(other, owner)),
            ),
          )
          .reverse();
        if (fresh.every((entry) => stored.some((other) => sameEntry(entry, other)))) return;
        const others = stored.filter((entry) => !fresh.some((other) => replaces(other, entry)));
        await writeAtomic(path, encodeEntries(newest([...fresh, ...others])), { durable: false });
      });
    } catch (error) {
      this.#warnOnce(path, error);
    }
  }

  /** Newest first; empty if the file is missing, unreadable or has another format. */
  async #entries(server: ServerId): Promise<readonly CacheEntry[]> {
    try {
      const text = await readIfThere(this.#pathOf(server));
      return text === undefined ? [] : decodeEntries(text);
    } catch (error) {
      this.#log.debug("a cached tool list is ignored", { server, error });
      return [];
    }
  }

  /** Without a cache only the next start is slower, so one warning is enough. */
  #warnOnce(path: string, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn("cannot write the tool cache; everything else works", { path, error });
  }

  #pathOf(server: ServerId): string {
    return join(this.#folder, safeName(server), "schema.json");
  }
}

/** A list with a key replaces a stored one without a key. */
function replaces(fresh: ListOwner, old: ListOwner): boolean {
  return fresh.identity === old.identity && (fresh.key === old.key || old.key === undefined);
}

function newest(entries: readonly CacheEntry[]): readonly CacheEntry[] {
  const keys = new Map<string, number>();
  return entries.filter(({ identity }) => {
    const count = (keys.get(identity) ?? 0) + 1;
    keys.set(identity, count);
    return count <= MAX_KEYS && keys.size <= MAX_IDENTITIES;
  });
}
