/**
 * Who uses one connection: calls that wait for it or are in flight on it, and leases. Knows nothing of how it
 * is opened or ended.
 */
import type { Lease } from "../kernel/call.ts";
import { PassingSet } from "../kernel/passing.ts";
import { type Claim, resetForTry } from "./claim.ts";

export interface UseListener {
  /** The first user came. */
  onBusy(): void;
  /** The last user left. */
  onIdle(): void;
}

export class ConnectionUse {
  readonly claims = new PassingSet<Claim>();
  readonly #listener: UseListener;
  #users = 0;
  #calls = 0;

  constructor(listener: UseListener) {
    this.#listener = listener;
  }

  /** Claims and leases. */
  get users(): number {
    return this.#users;
  }

  /** Claims, except those that only list what a child offers. */
  get calls(): number {
    return this.#calls;
  }

  add(claim: Claim): void {
    resetForTry(claim);
    this.claims.add(claim);
    if (!claim.lists) this.#calls++;
    this.#enter();
  }

  remove(claim: Claim): void {
    if (!this.claims.delete(claim)) return;
    if (!claim.lists) this.#calls--;
    this.#leave();
  }

  lease(): Lease {
    this.#enter();
    let held = true;
    return {
      release: () => {
        if (held) this.#leave();
        held = false;
      },
    };
  }

  #enter(): void {
    if (this.#users++ === 0) this.#listener.onBusy();
  }

  #leave(): void {
    if (--this.#users === 0) this.#listener.onIdle();
  }
}
