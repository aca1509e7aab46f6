/**
 * `AbortController` and `AbortSignal`, which QuickJS lacks. Sent into the sandbox as source text, so it must
 * not refer to anything outside itself.
 */

export function abort(): Record<string, unknown> {
  type Listener = (event: { readonly type: string; readonly target: unknown }) => void;

  function reasonOf(name: string, message: string): Error {
    return Object.assign(new Error(message), { name });
  }

  class AbortSignal {
    aborted = false;
    reason: unknown = undefined;
    onabort: Listener | null = null;
    #listeners = new Set<Listener>();
    addEventListener(type: string, listener: Listener): void {
      if (type === "abort" && typeof listener === "function") this.#listeners.add(listener);
    }
    removeEventListener(_type: string, listener: Listener): void {
      this.#listeners.delete(listener);
    }
    throwIfAborted(): void {
      if (this.aborted) throw this.reason;
    }
    /** Taken off the class below. */
    static end(this: void, signal: AbortSignal, reason: unknown): void {
      if (signal.aborted) return;
      signal.aborted = true;
      signal.reason = reason ?? reasonOf("AbortError", "This operation was aborted");
      const event = { type: "abort", target: signal };
      signal.onabort?.(event);
      for (const listener of signal.#listeners) listener(event);
    }
    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal();
      end(signal, reason);
      return signal;
    }
    static timeout(ms: number): AbortSignal {
      const signal = new AbortSignal();
      setTimeout(() => end(signal, reasonOf("TimeoutError", "The operation timed out")), ms);
      return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const signal = new AbortSignal();
      for (const one of signals) {
        if (one.aborted) end(signal, one.reason);
        one.addEventListener("abort", () => end(signal, one.reason));
      }
      return signal;
    }
  }
  const { end } = AbortSignal;
  Reflect.deleteProperty(AbortSignal, "end");

  class AbortController {
    readonly signal = new AbortSignal();
    abort(reason?: unknown): void {
      end(this.signal, reason);
    }
  }
  return { AbortController, AbortSignal };
}
