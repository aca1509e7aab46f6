/**
 * Lists what a child offers when it connects. A child that cannot list is still usable, and can be asked
 * again.
 */
import { aborted, type Signal } from "../kernel/signal.ts";
import type { HandshakeResult } from "./handshake.ts";
import { ChildFailure } from "./link.ts";

export interface FirstListParts {
  list(handshake: HandshakeResult): Promise<void>;
  /** The child cannot list. */
  onFailed(error: Error): void;
}

export class FirstList {
  readonly #parts: FirstListParts;
  /** Set while the list is missing. */
  #missing: HandshakeResult | undefined;
  #again: Promise<void> = Promise.resolve();

  constructor(parts: FirstListParts) {
    this.#parts = parts;
  }

  /** Rejects only if the connection is lost or the signal is aborted. */
  async take(handshake: HandshakeResult, signal: Signal): Promise<void> {
    try {
      await Promise.race([this.#list(handshake), aborted(signal)]);
    } catch (error) {
      if (error instanceof ChildFailure || signal.aborted) throw error;
      this.#parts.onFailed(error as Error);
    }
  }

  /** Lists again if the list is missing. Concurrent callers share one attempt. Never rejects. */
  again(): Promise<void> {
    const handshake = this.#missing;
    if (handshake) {
      this.#missing = undefined;
      this.#again = this.#list(handshake).catch(() => {});
    }
    return this.#again;
  }

  async #list(handshake: HandshakeResult): Promise<void> {
    this.#missing = handshake;
    await this.#parts.list(handshake);
    this.#missing = undefined;
  }
}
