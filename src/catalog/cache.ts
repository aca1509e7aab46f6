/** Tool lists of earlier runs, on disk: a shortcut, never the truth. Nothing that is wrong with a file reaches the caller. */
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import type { ServerId } from "../kernel/call.ts";
import type { ListKey } from "../kernel/list-key.ts";
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

export type { CachedList } from "./cache-file.ts";

export interface KeptList extends CachedList {
  /** Undefined where it was not noted over which key it came. */
  readonly key: ListKey | undefined;
}

/** Projects that use one name for different servers, and clients of one that can do different things; what was written longest ago goes. */
const KEPT_IDENTITIES = 8;
const KEPT_KEYS = 4;

interface Unwritten {
  readonly owner: ListOwner;
  readonly list: CachedList;
}

export class ToolCache {
  readonly #folder: string;
  readonly #log: Log;
  /** Lists not written yet, the newest last; and who is writing them. */
  readonly #waiting = new Map<ServerId, readonly Unwritten[]>();
  readonly #writing = new Map<ServerId, Promise<void>>();
  #complained = false;

  constructor(parts: { home: string; log: Log }) {
    this.#folder = join(parts.home, "cache");
    this.#log = parts.log;
  }

  /** What was last written for this server as it is configured, as far as it is usable, newest first. Never rejects. */
  async read(server: ServerId, identity: string): Promise<readonly KeptList[]> {
    const waiting = (this.#waiting.get(server) ?? []).filter(({ owner }) => owner.identity === identity);
    const there = (await this.#entries(server)).filter(
      (entry) => entry.identity === identity && !waiting.some(({ owner }) => sameOwner(owner, entry)),
    );
    return [
      ...waiting.map(({ owner, list }) => ({ ...list, key: owner.key })).reverse(),
      ...there.map((entry) => ({ ...listOf(server, entry), key: entry.key })),
    ];
  }

  /** Returns at once. Of several lists of one owner the last is written; one that is there already is not. */
  write(server: ServerId, owner: ListOwner, list: CachedList): void {
    const others = (this.#waiting.get(server) ?? []).filter((other) => !sameOwner(other.owner, owner));
    this.#waiting.set(server, [...others, { owner, list }]);
    if (!this.#writing.has(server)) this.#writing.set(server, this.#drain(server));
  }

  /** Resolves when everything is on disk or has failed. */
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
        const there = await this.#entries(server);
        const fresh = lists
          .map(({ owner, list }) =>
            entryOf(
              owner,
              list,
              there.find((other) => sameOwner(other, owner)),
            ),
          )
          .reverse();
        if (fresh.every((entry) => there.some((other) => sameEntry(entry, other)))) return;
        const others = there.filter((entry) => !fresh.some((other) => replaces(other, entry)));
        await writeAtomic(path, encodeEntries(newest([...fresh, ...others])), { durable: false });
      });
    } catch (error) {
      this.#complain(path, error);
    }
  }

  /** Newest first; none where the file is absent, unreadable or not ours. */
  async #entries(server: ServerId): Promise<readonly CacheEntry[]> {
    try {
      const text = await readIfThere(this.#pathOf(server));
      return text === undefined ? [] : decodeEntries(text);
    } catch (error) {
      this.#log.debug("a cached tool list is ignored", { server, error });
      return [];
    }
  }

  /** A home that cannot be written costs only time at the next start: one warning is enough. */
  #complain(path: string, error: unknown): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#log.warn("cannot write the tool cache; everything else works", { path, error });
  }

  #pathOf(server: ServerId): string {
    return join(this.#folder, safeName(server), "schema.json");
  }
}

/** What does not say over which key it came is worth nothing beside what does. */
function replaces(fresh: ListOwner, old: ListOwner): boolean {
  return fresh.identity === old.identity && (fresh.key === old.key || old.key === undefined);
}

function newest(entries: readonly CacheEntry[]): readonly CacheEntry[] {
  const keys = new Map<string, number>();
  return entries.filter(({ identity }) => {
    const count = (keys.get(identity) ?? 0) + 1;
    keys.set(identity, count);
    return count <= KEPT_KEYS && keys.size <= KEPT_IDENTITIES;
  });
}
