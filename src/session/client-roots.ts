/** The roots of one client. Requests them on first use, and again when the client says that they changed. */
import type { Clock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";
import { type KnownRoots, noRoots, type Roots, rootsOf } from "../kernel/roots.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";

/** Calls of a client that does not answer wait this long, and only once. */
const TIMEOUT_MS = 10_000;

interface ClientRootsOptions {
  readonly clock: Clock;
  /** The handshake has not been answered yet; until then the client must not be asked. */
  readonly inHandshake: () => boolean;
}

export class ClientRoots implements Roots {
  readonly #request: (signal: Signal) => Promise<Raw>;
  readonly #options: ClientRootsOptions;
  #known: KnownRoots | undefined;
  #asking: Promise<KnownRoots> | undefined;
  #changes = 0;

  constructor(request: (signal: Signal) => Promise<Raw>, options: ClientRootsOptions) {
    this.#request = request;
    this.#options = options;
  }

  /** True during the handshake, so that a server needed then gets a connection without roots. */
  get expensiveToAsk(): boolean {
    return this.#options.inHandshake();
  }

  get known(): KnownRoots | undefined {
    return this.#known;
  }

  ask(): Promise<KnownRoots> {
    if (this.#known) return Promise.resolve(this.#known);
    this.#asking ??= this.#ask();
    return this.#asking;
  }

  /** Discards known roots and pending answers. Resolves with the new roots. */
  changed(): Promise<KnownRoots> {
    this.#changes += 1;
    this.#known = undefined;
    this.#asking = undefined;
    return this.ask();
  }

  async #ask(): Promise<KnownRoots> {
    const signal = new CallSignal();
    const timer = this.#options.clock.after(TIMEOUT_MS, () =>
      signal.abort(new Error(`it did not answer for ${TIMEOUT_MS / 1000} s`)),
    );
    const changes = this.#changes;
    const known = await this.#request(signal).then(rootsOf, (error: Error) =>
      noRoots(`the client did not return its roots: ${error.message}`),
    );
    timer.cancel();
    // The roots changed while we waited, so callers get the new ones.
    if (changes !== this.#changes) return await this.ask();
    this.#known = known;
    return known;
  }
}
