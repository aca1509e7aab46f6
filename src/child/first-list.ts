/** Lists what a child offers when it connects. A child that cannot list is still usable, and can be asked again. */
import { aborted, type Signal } from "../kernel/signal.ts";
import type { Greeting } from "./handshake.ts";
import { ChildFailure } from "./link.ts";

export interface FirstListParts {
  list(greeting: Greeting): Promise<void>;
  /** The child cannot list. */
  onFailed(error: Error): void;
}

export class FirstList {
  readonly #parts: FirstListParts;
  /** Set while the list is missing. */
  #missing: Greeting | undefined;
  #again: Promise<void> = Promise.resolve();

  constructor(parts: FirstListParts) {
    this.#parts = parts;
  }

  /** Rejects only if the connection is lost or the signal is aborted. */
  async take(greeting: Greeting, signal: Signal): Promise<void> {
    try {
      await Promise.race([this.#list(greeting), aborted(signal)]);
    } catch (error) {
      if (error instanceof ChildFailure || signal.aborted) throw error;
      this.#parts.onFailed(error as Error);
    }
  }

  /** Lists again if the list is missing. Concurrent callers share one attempt. Never rejects. */
  again(): Promise<void> {
    const greeting = this.#missing;
    if (greeting) {
      this.#missing = undefined;
      this.#again = this.#list(greeting).catch(() => {});
    }
    return this.#again;
  }

  async #list(greeting: Greeting): Promise<void> {
    this.#missing = greeting;
    await this.#parts.list(greeting);
    this.#missing = undefined;
  }
}
