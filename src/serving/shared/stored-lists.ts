/**
 * The lists of servers in a store that several gateways share: what one learns, all know. A list is written
 * only when it changed. Lists of an earlier version are taken over from files.
 */
import { createHash } from "node:crypto";
import { ToolCache } from "../../catalog/cache.ts";
import {
  type CachedList,
  type CacheEntry,
  decodeEntries,
  encodeEntries,
  entryOf,
  type ListOwner,
  listOf,
  withChanged,
} from "../../catalog/cache-file.ts";
import { LISTED_KINDS, type ListedKind } from "../../catalog/known-list.ts";
import type { KeyedList, LearnedList, ListStorage } from "../../catalog/list-storage.ts";
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { Sequencer } from "../../kernel/sequencer.ts";
import { StoreError } from "../../store/error.ts";
import type { NewRecord, RecordChange, Store, StoredRecord } from "../../store/store.ts";

/** The kind of record. Its value is the text that the cache file of this one list would have. */
const LISTS = "learned-list";
/** Lists of one server, for several identities and list keys. The oldest is dropped. */
const MAX_LISTS = 16;
/** A longer list is not shared: each gateway asks its own server. */
const MAX_LENGTH = 4 * 1024 * 1024;
/** So often a write that lost against another gateway is tried again. */
const MAX_TURNS = 10;

interface Unwritten {
  readonly server: ServerId;
  readonly owner: ListOwner;
  readonly list: CachedList;
  /** The lists that this gateway has learned since the last write. */
  readonly changed: readonly ListedKind[];
}

type StoreParts = Pick<Store, "records" | "onChange" | "onState">;

export interface StoredListsParts {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A store that hangs must not hold the stop of the gateway. */
const LAST_WRITES_MS = 1_000;

export class StoredLists implements ListStorage {
  readonly #records: Store["records"];
  readonly #files: ToolCache;
  readonly #clock: Clock;
  readonly #log: Log;
  /** What was stored at the start, until it is read. */
  readonly #loaded = new Map<ServerId, StoredRecord[]>();
  /** The versions of the stored lists, by server and id. */
  readonly #versions = new Map<ServerId, Map<string, number>>();
  readonly #waiting = new Map<string, Unwritten>();
  readonly #work = new Sequencer();
  /** Everything up to this version is known. */
  #known = 0;
  #listener: (learned: LearnedList) => void = () => {};

  private constructor(store: StoreParts, { home, clock, log }: StoredListsParts) {
    this.#records = store.records;
    this.#files = new ToolCache({ home, log });
    this.#clock = clock;
    this.#log = log;
    store.onChange((change) => {
      if (change.of === "records" && change.kind === LISTS) this.#queue(() => this.#follow());
    });
    store.onState(({ up }) => {
      if (up) this.#queue(() => this.#drain());
    });
  }

  static async open(store: StoreParts, parts: StoredListsParts): Promise<StoredLists> {
    const lists = new StoredLists(store, parts);
    for (const record of await store.records.list(LISTS)) {
      lists.#note(record);
      const server = serverOf(record);
      lists.#loaded.set(server, [...(lists.#loaded.get(server) ?? []), record]);
    }
    return lists;
  }

  onLearned(listener: (learned: LearnedList) => void): void {
    this.#listener = listener;
  }

  async read(server: ServerId, identity: string): Promise<readonly KeyedList[]> {
    const stored = (await this.#stored(server)).flatMap((record) => this.#decoded(record));
    const lists = stored.filter((learned) => learned.identity === identity).map(({ list }) => list);
    if (lists.length > 0) return lists;
    const files = await this.#files.read(server, identity);
    for (const { key, ...list } of files) if (key !== undefined) this.write(server, { identity, key }, list);
    return files;
  }

  write(
    server: ServerId,
    owner: ListOwner,
    list: CachedList,
    changed: readonly ListedKind[] = LISTED_KINDS,
  ): void {
    const id = idOf(server, owner);
    const before = this.#waiting.get(id)?.changed ?? [];
    this.#waiting.set(id, { server, owner, list, changed: [...new Set([...before, ...changed])] });
    this.#queue(() => this.#drain());
  }

  async flush(): Promise<void> {
    await isDoneWithin(
      this.#clock,
      LAST_WRITES_MS,
      this.#work.run(() => {}),
    );
  }

  forget(server: ServerId): void {
    this.#queue(async () => {
      const ids = [...(this.#versions.get(server)?.keys() ?? [])];
      this.#loaded.delete(server);
      this.#versions.delete(server);
      if (ids.length > 0) await this.#records.write(removal(ids));
    });
  }

  /** Newest first. Empty without the store: the server is asked then. */
  async #stored(server: ServerId): Promise<readonly StoredRecord[]> {
    const loaded = this.#loaded.get(server);
    this.#loaded.delete(server);
    const records =
      loaded ?? (await this.#records.list(LISTS, { after: `${server} `, limit: MAX_LISTS }).catch(() => []));
    return records.filter((record) => serverOf(record) === server).toSorted((a, b) => b.version - a.version);
  }

  /** Reads what other gateways stored since. */
  async #follow(): Promise<void> {
    for (const record of await this.#records.list(LISTS, { since: this.#known })) {
      this.#note(record);
      // What was read at the start is outdated.
      this.#loaded.delete(serverOf(record));
      for (const learned of this.#decoded(record)) this.#listener(learned);
    }
  }

  async #drain(): Promise<void> {
    for (const [id, unwritten] of this.#waiting) {
      await this.#merge(id, unwritten);
      // A newer list may have come meanwhile.
      if (this.#waiting.get(id) === unwritten) this.#waiting.delete(id);
    }
  }

  /**
   * Replaces only the lists that this gateway has learned. Of two gateways that write at once, the one that
   * loses reads what the other stored and adds its own.
   */
  async #merge(id: string, { server, owner, list, changed }: Unwritten): Promise<void> {
    for (let turn = 1; ; turn++) {
      const stored = await this.#records.get(LISTS, id);
      const [before] = stored ? this.#entriesOf(stored) : [];
      const value = encodeEntries([withChanged(entryOf(owner, list, before), before, changed)]).toString();
      if (value.length > MAX_LENGTH || value === stored?.value) return;
      try {
        return await this.#put(server, { id, value, ifVersion: stored?.version ?? 0 });
      } catch (error) {
        if (!StoreError.is(error, "conflict") || turn === MAX_TURNS) throw error;
      }
    }
  }

  async #put(server: ServerId, list: Pick<NewRecord, "id" | "value" | "ifVersion">): Promise<void> {
    const record = await this.#records.put({ kind: LISTS, ...list });
    // Own changes need not be read back, unless another gateway wrote in between.
    const next = this.#known + 1 === record.version;
    const known = this.#known;
    this.#note(record);
    if (!next) this.#known = known;
    const versions = this.#versions.get(server) ?? new Map<string, number>();
    if (versions.size <= MAX_LISTS) return;
    const oldest = [...versions].toSorted(([, a], [, b]) => a - b).slice(0, versions.size - MAX_LISTS);
    for (const [old] of oldest) versions.delete(old);
    await this.#records.write(removal(oldest.map(([old]) => old)));
  }

  #note(record: StoredRecord): void {
    const server = serverOf(record);
    const versions = this.#versions.get(server) ?? new Map<string, number>();
    this.#versions.set(server, versions.set(record.id, record.version));
    this.#known = Math.max(this.#known, record.version);
  }

  #decoded(record: StoredRecord): readonly LearnedList[] {
    const server = serverOf(record);
    return this.#entriesOf(record).map((entry) => ({
      server,
      identity: entry.identity,
      list: { ...listOf(server, entry), key: entry.key },
    }));
  }

  #entriesOf(record: StoredRecord): readonly CacheEntry[] {
    try {
      return decodeEntries(String(record.value));
    } catch (error) {
      this.#log.debug("a stored list of a server is ignored", { server: serverOf(record), error });
      return [];
    }
  }

  /** What cannot be done without the store is done when it is back. */
  #queue(work: () => Promise<void>): void {
    this.#work
      .run(work)
      .catch((error: unknown) =>
        this.#log.debug("lists of servers are not in step with the store", { error }),
      );
  }
}

/** Sorted by server. Ids of servers contain no space. */
function idOf(server: ServerId, { identity, key = "" }: ListOwner): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([identity, key]))
    .digest("base64url");
  return `${server} ${hash.slice(0, 22)}`;
}

function serverOf({ id }: Pick<StoredRecord, "id">): ServerId {
  return id.slice(0, id.lastIndexOf(" "));
}

function removal(ids: readonly string[]): readonly RecordChange[] {
  return ids.map((id) => ({ delete: { kind: LISTS, id } }));
}
