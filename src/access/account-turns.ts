/**
 * Changes of accounts, one at a time over all gateways on a store: who counts administrators, or changes what they know
 * of an account, must not be overtaken. Each change also writes one record, if nobody else did since; of two that meet,
 * the second looks again at what the first made of it.
 */
import { StoreError } from "../store/error.ts";
import type { RecordChange, Store } from "../store/store.ts";

const TURN = { kind: "account-turn", id: "all" } as const;
const MOST_TRIES = 10;

export class AccountTurns {
  readonly #store: Pick<Store, "records">;
  readonly #load: () => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();
  /** The version of the record that what is in memory is at least as new as. */
  #known: number | undefined;

  /** `load`: reads all accounts again. */
  constructor(store: Pick<Store, "records">, load: () => Promise<void>) {
    this.#store = store;
    this.#load = load;
  }

  /** `work` begins with what is in the store, and writes `turn` with its change. It is done again where another came first. */
  take<T>(work: (turn: RecordChange) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#tried(work));
    this.#last = done.catch(() => {});
    return done;
  }

  /** What was written is in memory. */
  async refresh(): Promise<void> {
    const version = await this.#version();
    await this.#load();
    this.#known = version;
  }

  async #tried<T>(work: (turn: RecordChange) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      if (this.#known === undefined || (await this.#version()) !== this.#known) await this.refresh();
      const ifVersion = this.#known ?? 0;
      try {
        return await work({ put: { ...TURN, value: null, ifVersion } });
      } catch (error) {
        if (!StoreError.is(error, "conflict") || tries === MOST_TRIES) throw error;
        // It was something else of the change that did not agree.
        if ((await this.#version()) === ifVersion) throw error;
      }
    }
  }

  /** 0: nobody has changed an account yet. */
  async #version(): Promise<number> {
    return (await this.#store.records.get(TURN.kind, TURN.id))?.version ?? 0;
  }
}
