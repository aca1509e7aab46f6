/**
 * A set of listeners. With `onError` a listener that throws affects neither the others nor the caller of
 * `emit`.
 */
export class Listeners<A extends readonly unknown[]> {
  readonly #onError: ((error: unknown) => void) | undefined;
  readonly #all = new Set<(...news: A) => void>();

  constructor(onError?: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns a function that unsubscribes. */
  on(listener: (...news: A) => void): () => void {
    // A wrapper, so that the same function can subscribe twice and unsubscribe separately.
    const wrapper = (...news: A): void => listener(...news);
    this.#all.add(wrapper);
    return () => this.#all.delete(wrapper);
  }

  emit(...news: A): void {
    for (const listener of this.#all) {
      try {
        listener(...news);
      } catch (error) {
        if (!this.#onError) throw error;
        this.#onError(error);
      }
    }
  }
}
