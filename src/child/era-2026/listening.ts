/** One `subscriptions/listen`, kept up for as long as the connection lives. A child that does not offer it is left in peace. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { RpcError } from "../../rpc/rpc-error.ts";

export interface ListeningParts {
  readonly clock: Clock;
  /** Settles when the stream has ended: resolved by the child's own word. */
  listen(filter: Raw, signal: Signal): Promise<unknown>;
  /** It stands again after a break: what came meanwhile was missed. */
  onMissed(): void;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** A stream that held this long was a good one. */
const HELD_MS = 10_000;

export class Listening {
  readonly #parts: ListeningParts;
  readonly #filter: Raw;
  readonly #stop = new CallSignal();
  #delayMs = FIRST_DELAY_MS;
  #timer: Timer | undefined;

  constructor(filter: Raw, parts: ListeningParts) {
    this.#filter = filter;
    this.#parts = parts;
    void this.#listen();
  }

  end(): void {
    this.#timer?.cancel();
    this.#stop.abort(new Error("nobody is listening"));
  }

  async #listen(): Promise<void> {
    const { clock } = this.#parts;
    const since = clock.now();
    try {
      await this.#parts.listen(this.#filter, this.#stop);
    } catch (error) {
      if (error instanceof RpcError) return;
    }
    if (this.#stop.aborted) return;
    if (clock.now() - since >= HELD_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#timer = clock.after(this.#delayMs, () => {
      void this.#listen();
      this.#parts.onMissed();
    });
    this.#delayMs = Math.min(LONGEST_DELAY_MS, this.#delayMs * 2);
  }
}
