/**
 * The part of AbortSignal that a call needs. Every request makes one, and a real AbortSignal would cost as
 * much as the rest of the request.
 */

export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export class CallSignal implements Signal {
  aborted = false;
  reason: unknown;
  // Almost always there is one listener, and it is removed again.
  #listeners: (() => void)[] = [];

  addEventListener(_type: "abort", listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.lastIndexOf(listener);
    if (at === this.#listeners.length - 1) this.#listeners.pop();
    else if (at >= 0) this.#listeners.splice(at, 1);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Never resolves; rejects with the reason once the signal is aborted. */
export function aborted(signal: Signal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

/** Settles as the work does, or rejects with the reason once the signal is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: Signal | undefined): Promise<T> {
  if (!signal) return await work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}
