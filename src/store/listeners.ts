/** Who wants to hear of something. One that fails harms neither the others nor whoever tells. */
import type { Log } from "../kernel/log.ts";

export class Listeners<T> {
  readonly #log: Log;
  readonly #all = new Set<(news: T) => void>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns what ends it. */
  on(listener: (news: T) => void): () => void {
    // Not the function itself: given twice, it is told twice, and each can be ended alone.
    const own = (news: T): void => listener(news);
    this.#all.add(own);
    return () => this.#all.delete(own);
  }

  tell(news: T): void {
    for (const listener of this.#all) {
      try {
        listener(news);
      } catch (error) {
        this.#log.error("a listener of the store failed", { news, error });
      }
    }
  }
}
