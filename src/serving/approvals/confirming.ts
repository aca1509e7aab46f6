/**
 * An approval over gateways: the one at which the call waits confirms it in the store before it makes the
 * call. Without that, a yes for a call of a gateway that has just died would look as if it had been made.
 */
import type { Clock } from "../../kernel/clock.ts";
import { StoreError } from "../../store/error.ts";
import type { HolderLease } from "./holder-lease.ts";
import type { StoredApprovals } from "./stored-approval.ts";

/** A gateway that died is known to be dead before that. */
const CONFIRM_MS = 12_000;
const LOOK_MS = 250;

export class Confirming {
  readonly #stored: StoredApprovals;
  readonly #lease: HolderLease;
  readonly #clock: Clock;

  constructor(stored: StoredApprovals, lease: HolderLease, clock: Clock) {
    this.#stored = stored;
    this.#lease = lease;
    this.#clock = clock;
  }

  /** Waits until the holder has the approval. Takes the approval back if the holder is dead. */
  async isConfirmed(uuid: string, holder: string): Promise<boolean> {
    if (!this.#lease.confirms(holder)) return true;
    const until = this.#clock.now() + CONFIRM_MS;
    const isOpen = (): boolean => {
      const { state, taken } = this.#stored.all.get(uuid) ?? {};
      return state === "approved" && !taken;
    };
    while (isOpen() && this.#clock.now() < until && (await this.#lease.isAliveNow(holder)))
      await Promise.race([this.#stored.changed(), this.#pause()]);
    const { stored } = await this.#stored.takeBack(uuid);
    return stored?.taken === true;
  }

  /**
   * Confirms an approval; false if it was taken back. Tries again while the store is away and the call waits.
   */
  async take(uuid: string, holder: string, waits: () => boolean): Promise<boolean> {
    if (!this.#lease.confirms(holder)) return true;
    while (waits()) {
      try {
        return await this.#stored.take(uuid);
      } catch (error) {
        if (!StoreError.is(error, "unavailable")) throw error;
        await this.#pause();
      }
    }
    return false;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(LOOK_MS, resolve));
  }
}
