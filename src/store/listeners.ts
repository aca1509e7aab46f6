/** A set of listeners. A listener that throws affects neither the others nor the caller of `emit`. */
import type { Log } from "../kernel/log.ts";

export class Listeners<T> {
  readonly #log: Log;
  readonly #all = new Set<(event: T) => void>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns a function that unsubscribes. */
  on(listener: (event: T) => void): () => void {
    // A wrapper, so that the same function can subscribe twice and unsubscribe separately.
    const wrapper = (event: T): void => listener(event);
    this.#all.add(wrapper);
    return () => this.#all.delete(wrapper);
  }

  emit(event: T): void {
    for (const listener of this.#all) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error("a listener of the store failed", { news: event, error });
      }
    }
  }
}
