/** Circuit breaker of one server as a value. Time is an argument; nothing here waits, throws or logs. */

/** The epoch counts the probes: whatever was admitted before the last one says nothing any more. */
export type Breaker =
  | { readonly phase: "closed"; readonly epoch: number; readonly failures: number }
  | { readonly phase: "open"; readonly epoch: number; readonly until: number }
  | { readonly phase: "half-open"; readonly epoch: number };

/**
 * What came of something that was admitted. Healthy: a caller's request was answered, or the probe succeeded.
 * Sick: one of the failures that count. Unknown: all else (auth, cancelled, no place in the pool, our own
 * requests); whatever was admitted must be settled with something, or a probe would never end.
 */
export type HealthVerdict = "healthy" | "sick" | "unknown";

export interface Settlement {
  /** What `admit` returned to whoever caused this; where several did, the one with the highest epoch. */
  readonly admitted: Breaker;
  readonly verdict: HealthVerdict;
  readonly now: number;
}

export interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly threshold: number;
  readonly cooldownMs: number;
}

/** How soon it is worth asking again while a probe is out: nobody knows when it will be answered. */
const PROBE_HINT_MS = 1_000;

/** Where a server begins. For one that is known already this would bring back an epoch whose calls may still settle. */
export const closed: Breaker = { phase: "closed", epoch: 0, failures: 0 };

/** The breaker after letting one caller pass, or undefined if it must not. Half-open: that caller is the probe. */
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
      // A probe that told nothing leaves its turn to the next caller at once.
      return probing ? { phase: "open", epoch, until: now } : breaker;
    case "sick": {
      const failures = probing ? options.threshold : breaker.failures + 1;
      if (failures < options.threshold) return { phase: "closed", epoch, failures };
      return { phase: "open", epoch, until: now + options.cooldownMs };
    }
  }
}

/** When a rejected caller should ask again; 0 if one would be admitted now. */
export function retryAfterMs(breaker: Breaker, now: number): number {
  switch (breaker.phase) {
    case "closed":
      return 0;
    case "open":
      return Math.max(0, breaker.until - now);
    case "half-open":
      return PROBE_HINT_MS;
  }
}
