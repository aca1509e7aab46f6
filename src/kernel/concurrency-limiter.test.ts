import fc from "fast-check";
import { expect, test } from "vitest";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";

test("a limiter counts in itself and in the outer limiter, in any order of enter and leave", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 1 }))), fc.nat({ max: 5 }), (steps, most) => {
      const all = new ConcurrencyLimiter(() => ({ inFlight: most }));
      const limiters = [
        new ConcurrencyLimiter(() => ({}), all),
        new ConcurrencyLimiter(() => ({ inFlight: 2 }), all),
      ] as const;
      const counts = [0, 0] as [number, number];
      for (const [enters, at] of steps) {
        const which = at as 0 | 1;
        if (!enters && counts[which] === 0) continue;
        counts[which] += enters ? 1 : -1;
        if (enters) limiters[which].enter("inFlight");
        else limiters[which].leave("inFlight");
      }
      const total = counts[0] + counts[1];
      expect(limiters[0].full("inFlight")).toBe(total >= most);
      expect(limiters[1].full("inFlight")).toBe(total >= most || counts[1] >= 2);
      expect(limiters[0].full("sessions")).toBe(false);
    }),
  );
});

test("a request is counted until it resolves, rejects or throws", async () => {
  const limiter = new ConcurrencyLimiter(() => ({ inFlight: 1 }));
  const pending = limiter.serve(() => Promise.resolve(7));
  expect(limiter.full("inFlight")).toBe(true);
  expect(await pending).toBe(7);
  expect(limiter.full("inFlight")).toBe(false);
  await expect(limiter.serve(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(() =>
    limiter.serve(() => {
      throw new Error("at once");
    }),
  ).toThrow("at once");
  await Promise.resolve();
  expect(limiter.full("inFlight")).toBe(false);
});
