/**
 * The circuit breaker of one server as pure functions. Time is an argument. Nothing here waits, throws or
 * logs.
 */

/** `epoch` counts the probes. Results of calls that were admitted before the last probe are ignored. */
export type Breaker =
  | { readonly phase: "closed"; readonly epoch: number; readonly failures: number }
  | { readonly phase: "open"; readonly epoch: number; readonly until: number }
  | { readonly phase: "half-open"; readonly epoch: number };

/**
 * The result of an admitted call. `healthy`: a caller's request was answered, or the probe succeeded. `sick`:
 * one of the failures that count. `unknown`: everything else (auth, cancelled, no slot in the pool, requests
 * of MetaMCP itself). Every admitted call must be settled with one of them; otherwise a probe would never
 * end.
 */
export type HealthVerdict = "healthy" | "sick" | "unknown";

export interface Settlement {
  /** What `admit` returned to the caller; of several callers, the one with the highest epoch. */
  readonly admitted: Breaker;
  readonly verdict: HealthVerdict;
  readonly now: number;
}

export interface BreakerOptions {
  /** Number of consecutive failures that open the breaker. */
  readonly threshold: number;
  readonly cooldownMs: number;
}

/** Suggested wait while a probe is in flight. The time of its answer is unknown. */
const PROBE_HINT_MS = 1_000;

/** The initial value. Do not use it to reset a breaker: calls of epoch 0 may still settle. */
export const closed: Breaker = { phase: "closed", epoch: 0, failures: 0 };

/**
 * The breaker after one caller is admitted, or undefined if the caller must not pass. If it is half-open,
 * that caller is the probe.
 */
export function admit(breaker: Breaker, now: number): Breaker | undefined {
  if (breaker.phase === "closed") return breaker;
  if (breaker.phase === "half-open" || now < breaker.until) return undefined;
  return { phase: "half-open", epoch: breaker.epoch + 1 };
}

export function settle(breaker: Breaker, settlement: Settlement, options: BreakerOptions): Breaker {
  if (breaker.phase === "open" || breaker.epoch !== settlement.admitted.epoch) return breaker;
  const { verdict, now } = settlement;
  const { epoch } = breaker;
  const probing = breaker.phase === "half-open";

  switch (verdict) {
    case "healthy":
      if (probing) return { phase: "closed", epoch, failures: 0 };
      return breaker.failures === 0 ? breaker : { ...breaker, failures: 0 };
    case "unknown":
      // After a probe without a result the next caller may probe at once.
      return probing ? { phase: "open", epoch, until: now } : breaker;
    case "sick": {
      const failures = probing ? options.threshold : breaker.failures + 1;
      if (failures < options.threshold) return { phase: "closed", epoch, failures };
      return { phase: "open", epoch, until: now + options.cooldownMs };
    }
  }
}

/** Whole milliseconds after which a rejected caller should try again; 0 if a caller would be admitted now. */
export function retryAfterMs(breaker: Breaker, now: number): number {
  switch (breaker.phase) {
    case "closed":
      return 0;
    case "open":
      return Math.ceil(Math.max(0, breaker.until - now));
    case "half-open":
      return PROBE_HINT_MS;
  }
}
