/** The current state of the store, with listeners for its changes. */
import { Listeners } from "../kernel/listeners.ts";
import type { Log } from "../kernel/log.ts";
import type { StoreState } from "./store.ts";

const UP: StoreState = { up: true };

export class Availability {
  #state: StoreState = UP;
  readonly #log: Log;
  readonly #listeners: Listeners<[StoreState]>;

  constructor(log: Log) {
    this.#log = log;
    this.#listeners = new Listeners((error) => log.error("a listener of the store failed", { error }));
  }

  get state(): StoreState {
    return this.#state;
  }

  on(listener: (state: StoreState) => void): () => void {
    return this.#listeners.on(listener);
  }

  up(): void {
    if (this.#state.up) return;
    this.#log.info("the store is up again");
    this.#set(UP);
  }

  /** Keeps the first reason. Further failures while it is down are consequences of it. */
  down(reason: string): void {
    if (!this.#state.up) return;
    this.#log.warn("the store is down", { reason });
    this.#set({ up: false, reason });
  }

  #set(state: StoreState): void {
    this.#state = state;
    this.#listeners.emit(state);
  }
}
