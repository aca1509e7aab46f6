import fc from "fast-check";
import { expect, test } from "vitest";
import { admit, type Breaker, closed, type HealthVerdict, retryAfterMs, settle } from "./breaker.ts";

const options = { threshold: 3, cooldownMs: 1_000 };

/** Admits one call and settles it. */
function call(breaker: Breaker, verdict: HealthVerdict, now: number): Breaker {
  const admitted = admit(breaker, now);
  if (!admitted) throw new Error("rejected");
  return settle(admitted, { admitted, verdict, now }, options);
}

function after(verdicts: readonly HealthVerdict[], now = 0): Breaker {
  return verdicts.reduce<Breaker>((breaker, verdict) => call(breaker, verdict, now), closed);
}

const tripped = after(["sick", "sick", "sick"]);

test("the breaker opens at the third failure in a row and says when to retry", () => {
  expect(admit(after(["sick", "sick"]), 0)).toBeDefined();
  expect(admit(tripped, 0)).toBeUndefined();
  expect(admit(tripped, 999)).toBeUndefined();
  expect(retryAfterMs(tripped, 0)).toBe(1_000);
  expect(retryAfterMs(tripped, 999)).toBe(1);
  expect(retryAfterMs(tripped, 10.4)).toBe(990);
  expect(retryAfterMs(tripped, 5_000)).toBe(0);
});

test("an answer resets the count of failures; a call without a verdict does not change it", () => {
  expect(after(["sick", "sick", "healthy", "sick", "sick"]).phase).toBe("closed");
  expect(after(["sick", "sick", "unknown", "sick"]).phase).toBe("open");
});

test("after the cooldown the breaker admits exactly one caller and rejects others until it is settled", () => {
  const probe = admit(tripped, 1_000);
  expect(probe?.phase).toBe("half-open");

  expect(admit(probe as Breaker, 1_000)).toBeUndefined();
  expect(admit(probe as Breaker, 1e9)).toBeUndefined();
  expect(retryAfterMs(probe as Breaker, 1_000)).toBeGreaterThan(0);
});

test("a probe that succeeds closes the breaker with a count of zero", () => {
  const recovered = call(tripped, "healthy", 1_000);

  expect(call(call(recovered, "sick", 1_000), "sick", 1_000).phase).toBe("closed");
});

test("a probe that fails opens the breaker at once, with a new cooldown of the same length", () => {
  const again = call(tripped, "sick", 1_700);
  expect(again).toMatchObject({ phase: "open", until: 2_700 });
  expect(call(again, "sick", 5_000)).toMatchObject({ phase: "open", until: 6_000 });
});

test("after a probe without a verdict the next caller may probe", () => {
  const unknown = call(tripped, "unknown", 1_000);
  expect(unknown.phase).toBe("open");
  expect(retryAfterMs(unknown, 1_000)).toBe(0);
  expect(admit(unknown, 1_000)?.phase).toBe("half-open");
});

test.each<HealthVerdict>(["healthy", "sick", "unknown"])(
  "a call admitted before the breaker opened that ends as %s changes neither the probe nor the breaker after it",
  (verdict) => {
    const late = { admitted: closed, verdict, now: 1_000 };
    const probing = admit(tripped, 1_000) as Breaker;
    expect(settle(tripped, late, options)).toBe(tripped);
    expect(settle(probing, late, options)).toBe(probing);

    const recovered = settle(probing, { admitted: probing, verdict: "healthy", now: 1_000 }, options);
    const oneFailure = call(recovered, "sick", 1_000);
    expect(settle(oneFailure, late, options)).toBe(oneFailure);
  },
);

test("a probe settles only once", () => {
  const admitted = admit(tripped, 1_000) as Breaker;
  const reopened = settle(admitted, { admitted, verdict: "sick", now: 1_000 }, options);
  expect(settle(reopened, { admitted, verdict: "healthy", now: 1_001 }, options)).toBe(reopened);
  const next = admit(reopened, 2_000) as Breaker;
  expect(settle(next, { admitted, verdict: "healthy", now: 2_000 }, options)).toBe(next);
});

const step = fc.oneof(
  fc.record({ do: fc.constant("admit" as const) }),
  fc.record({
    do: fc.constant("settle" as const),
    which: fc.nat(),
    verdict: fc.constantFrom<HealthVerdict>("healthy", "sick", "unknown"),
  }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 1_500 }) }),
);

test("no order of overlapping calls leads to two probes at once, an early opening or a breaker that never admits again", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, threshold) => {
      const bounds = { threshold, cooldownMs: 1_000 };
      let breaker: Breaker = closed;
      let now = 0;
      const inFlight: Breaker[] = [];
      let sickInARow = 0;

      for (const step of steps) {
        if (step.do === "wait") now += step.ms;
        if (step.do === "admit") {
          const hint = retryAfterMs(breaker, now);
          const admitted = admit(breaker, now);
          expect(hint === 0).toBe(admitted !== undefined);
          if (admitted) {
            inFlight.push(admitted);
            breaker = admitted;
          }
        }
        if (step.do === "settle" && inFlight.length > 0) {
          const [admitted] = inFlight.splice(step.which % inFlight.length, 1) as [Breaker];
          const before = breaker;
          breaker = settle(before, { admitted, verdict: step.verdict, now }, bounds);
          if (before.phase === "closed" && before.epoch === admitted.epoch) {
            if (step.verdict === "healthy") sickInARow = 0;
            if (step.verdict === "sick") sickInARow += 1;
            expect(breaker.phase).toBe(sickInARow >= threshold ? "open" : "closed");
          }
          if (breaker.phase !== "closed" || before.phase !== "closed") sickInARow = 0;
          if (before.phase === "open") expect(breaker).toBe(before);
          if (breaker.phase === "open") expect(breaker.until).toBeLessThanOrEqual(now + 1_000);
        }
        const probes = inFlight.filter((each) => each.phase === "half-open");
        expect(probes.length).toBe(breaker.phase === "half-open" ? 1 : 0);
      }

      for (const admitted of inFlight) breaker = settle(breaker, { admitted, verdict: "sick", now }, bounds);
      expect(admit(breaker, now + 1_000)).toBeDefined();
    }),
    { numRuns: 500 },
  );
});
