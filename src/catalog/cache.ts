/** Tool lists of earlier runs, on disk: a shortcut, never the truth. Nothing that is wrong with a file reaches the caller. */
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
  listOf,
  sameEntry,
} from "./cache-file.ts";

export type { CachedList } from "./cache-file.ts";

/** Projects that use one name for different servers; the one written longest ago goes. */
const KEPT_ENTRIES = 8;

export class ToolCache {
  readonly #folder: string;
  readonly #log: Log;
  /** Lists not written yet, by server and identity; and who is writing them. */
  readonly #waiting = new Map<ServerId, Map<string, CachedList>>();
  readonly #writing = new Map<ServerId, Promise<void>>();
  #complained = false;

  constructor(parts: { home: string; log: Log }) {
    this.#folder = join(parts.home, "cache");
    this.#log = parts.log;
  }

  /** What was last written for this server as it is configured, if anything usable. Never rejects. */
  async read(server: ServerId, identity: string): Promise<CachedList | undefined> {
    const waiting = this.#waiting.get(server)?.get(identity);
    if (waiting) return waiting;
    const entry = (await this.#entries(server)).find((other) => other.identity === identity);
    return entry && listOf(server, entry);
  }

  /** Returns at once. Of several lists for one identity the last is written; one that is there already is not. */
  write(server: ServerId, identity: string, list: CachedList): void {
    const waiting = this.#waiting.get(server) ?? new Map<string, CachedList>();
    this.#waiting.set(server, waiting.set(identity, list));
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

  async #save(server: ServerId, lists: ReadonlyMap<string, CachedList>): Promise<void> {
    const path = this.#pathOf(server);
    try {
      await withLock(path, async () => {
        const there = await this.#entries(server);
        const before = new Map(there.map((entry) => [entry.identity, entry]));
        const fresh = [...lists].map(([id, list]) => entryOf(id, list, before.get(id))).reverse();
        if (fresh.every((entry) => there.some((other) => sameEntry(entry, other)))) return;
        const others = there.filter((entry) => !lists.has(entry.identity));
        const kept = [...fresh, ...others].slice(0, KEPT_ENTRIES);
        await writeAtomic(path, encodeEntries(kept), { durable: false });
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
    this.#log.warn("tool lists cannot be cached; everything else works", { path, error });
  }

  #pathOf(server: ServerId): string {
    return join(this.#folder, safeName(server), "schema.json");
  }
}
