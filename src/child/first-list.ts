/** The first list of a connection. A child that cannot list is still a child, and may be asked again. */
import type { Greeting } from "./handshake.ts";

export class FirstList {
  readonly #list: (greeting: Greeting) => Promise<void>;
  /** Of a child that could not list. */
  #missing: Greeting | undefined;
  #again: Promise<void> = Promise.resolve();

  constructor(list: (greeting: Greeting) => Promise<void>) {
    this.#list = list;
  }

  /** Rejects with why it cannot be had. */
  async take(greeting: Greeting): Promise<void> {
    this.#missing = greeting;
    await this.#list(greeting);
    this.#missing = undefined;
  }

  /** Once more, where it could not be had; once for all who want that now. Never rejects. */
  again(): Promise<void> {
    const greeting = this.#missing;
    if (greeting) {
      this.#missing = undefined;
      this.#again = this.take(greeting).catch(() => {});
    }
    return this.#again;
  }
}
