/** A request with less time than its caller has. Stands still while somebody is asked on its behalf. */
import type { Hold } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../surface.ts";

export class Patience {
  readonly #clock: Clock;
  readonly #given: Signal;
  readonly #signal = new CallSignal();
  readonly #onAbort: () => void;
  #left: number;
  #since = 0;
  #asking = 0;
  #timer: Timer | undefined;
  #ended = false;

  /** `timeoutMs` undefined: as long as the caller has. */
  constructor(clock: Clock, given: Signal, timeoutMs: number | undefined) {
    this.#clock = clock;
    this.#given = given;
    this.#left = timeoutMs ?? Number.POSITIVE_INFINITY;
    this.#onAbort = () => this.#signal.abort(given.reason);
    given.addEventListener("abort", this.#onAbort);
    if (given.aborted) this.#onAbort();
    this.#arm();
  }

  /** Its time was over before it was done. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The request as it is passed on. */
  bound(request: ClientRequest): ClientRequest {
    if (this.#left === Number.POSITIVE_INFINITY) return { ...request, signal: this.#signal };
    const { uplink } = request;
    return {
      ...request,
      signal: this.#signal,
      hold: this.#holding(request.hold),
      uplink: {
        notify: (method, params) => uplink.notify(method, params),
        request: (...asked) => {
          this.#pause();
          return uplink.request(...asked).finally(() => this.#resume());
        },
      },
    };
  }

  /** Gives it up. */
  abort(reason: Error): void {
    this.#signal.abort(reason);
  }

  /** It is done, or nobody waits any more. */
  release(): void {
    this.#timer?.cancel();
    this.#given.removeEventListener("abort", this.#onAbort);
  }

  #holding(outer: Hold | undefined): Hold {
    return () => {
      const release = outer?.();
      this.#pause();
      return () => {
        this.#resume();
        release?.();
      };
    };
  }

  #arm(): void {
    if (this.#left === Number.POSITIVE_INFINITY) return;
    this.#since = this.#clock.now();
    this.#timer = this.#clock.after(this.#left, () => {
      this.#ended = true;
      // To the child it is a cancellation: how long somebody waits says nothing about its health.
      this.#signal.abort(new MetaMcpError("cancelled", "its time is up"));
    });
  }

  #pause(): void {
    if (this.#asking++ > 0) return;
    this.#timer?.cancel();
    this.#left -= this.#clock.now() - this.#since;
  }

  #resume(): void {
    if (--this.#asking === 0 && !this.#signal.aborted) this.#arm();
  }
}
