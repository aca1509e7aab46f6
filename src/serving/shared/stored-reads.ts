/**
 * What callers read, in the store of the gateway. On a shared store every gateway asks there. An embedded
 * store has one process: it keeps all reads in memory, and the store only has them for its next start.
 */

import { Lru } from "../../kernel/lru.ts";
import type { ReadStore, StoredRead } from "../../middleware/read-log.ts";
import type { Store } from "../../store/store.ts";

/** The kind of record. Its id is caller and rule, its value what was read. */
const READS = "flow-read";
const MAX_CALLERS = 100_000;

interface KnownRead {
  readonly what: string;
  readonly until: number;
}

/** Milliseconds since 1970. */
type Now = () => number;

export async function openReads(store: Store, now: Now = Date.now): Promise<ReadStore> {
  const { reads } = store;
  if (!reads) return await EmbeddedReads.open(store, now);
  return {
    get up() {
      return store.state.up;
    },
    note: async (caller, rules, read) => await reads.note(caller, rules, read),
    of: async (caller) => await reads.of(caller),
  };
}

class EmbeddedReads implements ReadStore {
  readonly #records: Store["records"];
  readonly #now: Now;
  readonly #callers = new Lru<string, Map<string, KnownRead>>(MAX_CALLERS);

  private constructor(records: Store["records"], now: Now) {
    this.#records = records;
    this.#now = now;
  }

  static async open({ records }: Pick<Store, "records">, now: Now): Promise<EmbeddedReads> {
    const reads = new EmbeddedReads(records, now);
    for (const { id, value, expiresAt = 0 } of await records.list(READS)) {
      const [caller = "", rule = ""] = id.split(" ");
      reads.#remember(caller, [rule], { what: String(value), until: expiresAt });
    }
    return reads;
  }

  /** Each write is tried: only a write shows that the disk is no longer full. */
  readonly up = true;

  async note(caller: string, rules: readonly string[], { what, forMs }: StoredRead): Promise<void> {
    const until = this.#now() + forMs;
    await this.#records.write(
      rules.map((rule) => ({ put: { kind: READS, id: `${caller} ${rule}`, value: what, expiresAt: until } })),
    );
    this.#remember(caller, rules, { what, until });
  }

  of(caller: string): Promise<ReadonlyMap<string, string>> {
    const reads = [...(this.#callers.get(caller) ?? [])].filter(([, { until }]) => until > this.#now());
    return Promise.resolve(new Map(reads.map(([rule, { what }]) => [rule, what])));
  }

  #remember(caller: string, rules: readonly string[], read: KnownRead): void {
    const reads = this.#callers.get(caller) ?? new Map<string, KnownRead>();
    for (const rule of rules) reads.set(rule, read);
    this.#callers.set(caller, reads);
  }
}
