/**
 * Gives a request a shorter timeout than its caller has. The timeout pauses while the client or a person is
 * asked.
 */
import type { Hold } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../surface.ts";

export class RequestTimeout {
  readonly #clock: Clock;
  readonly #outer: Signal;
  readonly #signal = new CallSignal();
  readonly #onAbort: () => void;
  #left: number;
  #since = 0;
  #pauses = 0;
  #timer: Timer | undefined;
  #expired = false;

  /** Without `timeoutMs` only the caller's own signal applies. */
  constructor(clock: Clock, outer: Signal, timeoutMs: number | undefined) {
    this.#clock = clock;
    this.#outer = outer;
    this.#left = timeoutMs ?? Number.POSITIVE_INFINITY;
    this.#onAbort = () => this.#signal.abort(outer.reason);
    outer.addEventListener("abort", this.#onAbort);
    if (outer.aborted) this.#onAbort();
    this.#startTimer();
  }

  get expired(): boolean {
    return this.#expired;
  }

  /** Returns the request with this timeout. */
  applyTo(request: ClientRequest): ClientRequest {
    if (this.#left === Number.POSITIVE_INFINITY) return { ...request, signal: this.#signal };
    const { uplink } = request;
    return {
      ...request,
      signal: this.#signal,
      hold: this.#pausing(request.hold),
      uplink: {
        notify: (method, params) => uplink.notify(method, params),
        request: (...args) => {
          this.#pause();
          return uplink.request(...args).finally(() => this.#resume());
        },
      },
    };
  }

  abort(reason: Error): void {
    this.#signal.abort(reason);
  }

  /** Must be called when the request has ended. */
  release(): void {
    this.#timer?.cancel();
    this.#outer.removeEventListener("abort", this.#onAbort);
  }

  #pausing(outer: Hold | undefined): Hold {
    return () => {
      const release = outer?.();
      this.#pause();
      return () => {
        this.#resume();
        release?.();
      };
    };
  }

  #startTimer(): void {
    if (this.#left === Number.POSITIVE_INFINITY) return;
    this.#since = this.#clock.now();
    this.#timer = this.#clock.after(this.#left, () => {
      this.#expired = true;
      // The child gets a cancellation: a short timeout of the client says nothing about the health of the
      // child.
      this.#signal.abort(new MetaMcpError("cancelled", "its time is up"));
    });
  }

  #pause(): void {
    if (this.#pauses++ > 0) return;
    this.#timer?.cancel();
    this.#left -= this.#clock.now() - this.#since;
  }

  #resume(): void {
    if (--this.#pauses === 0 && !this.#signal.aborted) this.#startTimer();
  }
}
