/**
 * Optimistic lock for changes of accounts, over all gateways on a store. A check such as "is this the last
 * administrator" must still be true when the change is written. Therefore each change also writes the lock
 * record, which fails if another change wrote it since. A change that fails this way reads the accounts again
 * and is repeated.
 */
import { Sequencer } from "../kernel/sequencer.ts";
import { StoreError } from "../store/error.ts";
import type { RecordChange, Store } from "../store/store.ts";

const LOCK = { kind: "account-turn", id: "all" } as const;
const MAX_TRIES = 10;

export class AccountLock {
  readonly #store: Pick<Store, "records">;
  readonly #load: () => Promise<void>;
  readonly #changes = new Sequencer();
  /** The accounts in memory are at least as new as this version of the lock record. */
  #known: number | undefined;

  /** `load`: reads all accounts again. */
  constructor(store: Pick<Store, "records">, load: () => Promise<void>) {
    this.#store = store;
    this.#load = load;
  }

  /**
   * Runs `work` with current accounts. It must write `lockChange` together with its change. Runs it again if
   * another change was first.
   */
  run<T>(work: (lockChange: RecordChange) => Promise<T>): Promise<T> {
    return this.#changes.run(() => this.#retry(work));
  }

  /** Loads what was written into memory. */
  async refresh(): Promise<void> {
    const version = await this.#version();
    await this.#load();
    this.#known = version;
  }

  async #retry<T>(work: (lockChange: RecordChange) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      if (this.#known === undefined || (await this.#version()) !== this.#known) await this.refresh();
      const ifVersion = this.#known ?? 0;
      try {
        return await work({ put: { ...LOCK, value: null, ifVersion } });
      } catch (error) {
        if (!StoreError.is(error, "conflict") || tries === MAX_TRIES) throw error;
        // The lock is unchanged, so another record of the change caused the conflict.
        if ((await this.#version()) === ifVersion) throw error;
      }
    }
  }

  /** 0 if no account has been changed yet. */
  async #version(): Promise<number> {
    return (await this.#store.records.get(LOCK.kind, LOCK.id))?.version ?? 0;
  }
}
