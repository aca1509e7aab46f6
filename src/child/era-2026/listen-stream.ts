/**
 * One `subscriptions/listen` stream, reopened until the connection ends. It is not reopened after an error
 * answer of the child.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { RpcError } from "../../rpc/rpc-error.ts";

export interface ListenParts {
  readonly clock: Clock;
  /** Settles when the stream has ended; resolves if the child ended it. */
  listen(filter: Raw, signal: Signal): Promise<unknown>;
  /** The stream was reopened. Notifications in between were missed. */
  onMissed(): void;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** After a stream that lasted this long the delay starts again from the first. */
const STABLE_MS = 10_000;

export class ListenStream {
  readonly #parts: ListenParts;
  readonly #filter: Raw;
  readonly #stop = new CallSignal();
  #delayMs = FIRST_DELAY_MS;
  #timer: Timer | undefined;

  constructor(filter: Raw, parts: ListenParts) {
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
    if (clock.now() - since >= STABLE_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#timer = clock.after(this.#delayMs, () => {
      void this.#listen();
      this.#parts.onMissed();
    });
    this.#delayMs = Math.min(LONGEST_DELAY_MS, this.#delayMs * 2);
  }
}
