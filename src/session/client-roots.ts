/** The roots of one client: asked for when they are first needed, and again when it says that they changed. */
import type { Clock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";
import { type KnownRoots, noRoots, type Roots, rootsOf } from "../kernel/roots.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";

/** A client that does not answer keeps its calls waiting no longer than this, and only once. */
const PATIENCE_MS = 10_000;

interface Surroundings {
  readonly clock: Clock;
  /** The client waits for the answer to its handshake: until then it cannot be asked. */
  readonly inHandshake: () => boolean;
}

export class ClientRoots implements Roots {
  readonly #request: (signal: Signal) => Promise<Raw>;
  readonly #around: Surroundings;
  #known: KnownRoots | undefined;
  #asking: Promise<KnownRoots> | undefined;
  #changes = 0;

  constructor(request: (signal: Signal) => Promise<Raw>, around: Surroundings) {
    this.#request = request;
    this.#around = around;
  }

  /** Whoever needs a server during the handshake gets a connection without roots. */
  get costly(): boolean {
    return this.#around.inHandshake();
  }

  get known(): KnownRoots | undefined {
    return this.#known;
  }

  ask(): Promise<KnownRoots> {
    if (this.#known) return Promise.resolve(this.#known);
    this.#asking ??= this.#ask();
    return this.#asking;
  }

  /** What was known, or is being asked for, is out of date. Resolves when the new ones are known. */
  changed(): Promise<KnownRoots> {
    this.#changes += 1;
    this.#known = undefined;
    this.#asking = undefined;
    return this.ask();
  }

  async #ask(): Promise<KnownRoots> {
    const signal = new CallSignal();
    const timer = this.#around.clock.after(PATIENCE_MS, () =>
      signal.abort(new Error(`it did not answer for ${PATIENCE_MS / 1000} s`)),
    );
    const changes = this.#changes;
    const known = await this.#request(signal).then(rootsOf, (error: Error) =>
      noRoots(`the client did not return its roots: ${error.message}`),
    );
    timer.cancel();
    // They changed meanwhile: whoever waits for these gets the new ones.
    if (changes !== this.#changes) return await this.ask();
    this.#known = known;
    return known;
  }
}
