/**
 * Keeps all records of one kind in memory, so that requests do not read the store. The owner calls `load`
 * after changes.
 */
import { Listeners } from "../kernel/listeners.ts";
import type { Store, StoredRecord } from "../store/store.ts";

const PAGE = 500;

type Loaded<T> = [after: ReadonlyMap<string, T>, before: ReadonlyMap<string, T>];

export class Mirror<T> {
  readonly #store: Pick<Store, "records">;
  readonly #listeners = new Listeners<Loaded<T>>();
  readonly kind: string;
  #values: ReadonlyMap<string, T> = new Map();
  #reading: Promise<void> = Promise.resolve();
  /** A read that has not begun. Callers that want another read share it. */
  #next: Promise<void> | undefined;

  constructor(store: Pick<Store, "records">, kind: string) {
    this.#store = store;
    this.kind = kind;
  }

  /** By id. */
  get values(): ReadonlyMap<string, T> {
    return this.#values;
  }

  /** Runs after each read. Returns a function that unsubscribes. */
  on(listener: (...loaded: Loaded<T>) => void): () => void {
    return this.#listeners.on(listener);
  }

  /**
   * Resolves when everything written before this call is in memory. Reads run one at a time, so that an older
   * one cannot finish last.
   */
  load(): Promise<void> {
    this.#next ??= this.#reading.then(async () => {
      this.#next = undefined;
      const before = this.#values;
      this.#values = new Map(
        (await allRecords(this.#store, this.kind)).map(({ id, value }) => [id, value as T]),
      );
      this.#listeners.emit(this.#values, before);
    });
    this.#reading = this.#next.catch(() => {});
    return this.#next;
  }
}

export async function allRecords(
  store: Pick<Store, "records">,
  kind: string,
): Promise<readonly StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await store.records.list(kind, { limit: PAGE, ...(last && { after: last.id }) });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
