import fc from "fast-check";
import { expect, test } from "vitest";
import { LoginThrottle } from "./throttle.ts";

const MINUTE = 60_000;

function failures(throttle: LoginThrottle, tries: Iterable<readonly [string, string]>, now = 0): number {
  let failed = 0;
  for (const [account, address] of tries) if (throttle.attempt(account, address, now).ok) failed += 1;
  return failed;
}

test("the limits are 10 failures per account and address, 50 per address and 100 per account", () => {
  const many = (count: number, of: (at: number) => readonly [string, string]) =>
    Array.from({ length: count }, (_, at) => of(at));
  expect(
    failures(
      new LoginThrottle(),
      many(30, () => ["a", "192.0.2.1"]),
    ),
  ).toBe(10);
  expect(
    failures(
      new LoginThrottle(),
      many(90, (at) => [`a${at}`, "192.0.2.1"]),
    ),
  ).toBe(50);
  expect(
    failures(
      new LoginThrottle(),
      many(300, (at) => ["a", `192.0.2.${at}`]),
    ),
  ).toBe(100);
  expect(
    failures(
      new LoginThrottle(),
      many(30, (at) => ["a", `2001:db8::${at}`]),
    ),
  ).toBe(10);
  expect(
    failures(
      new LoginThrottle(),
      many(20, (at) => ["a", `${at % 2 ? "::ffff:" : ""}192.0.2.1`]),
    ),
  ).toBe(10);
});

test("an attempt is allowed after retryAfterMs, and a success does not count", () => {
  const throttle = new LoginThrottle();
  for (let at = 0; at < 10; at += 1) throttle.attempt("a", "192.0.2.1", at * MINUTE);
  const refused = throttle.attempt("a", "192.0.2.1", 10 * MINUTE);
  if (refused.ok) throw new Error("not refused");
  expect(refused.retryAfterMs).toBe(5 * MINUTE);
  const again = throttle.attempt("a", "192.0.2.1", 10 * MINUTE + refused.retryAfterMs);
  if (!again.ok) throw new Error("refused");
  again.succeeded();
  expect(throttle.attempt("a", "192.0.2.1", 10 * MINUTE + refused.retryAfterMs).ok).toBe(true);
});

test("no order of attempts allows more than 10 failures of an account and address within 15 minutes", () => {
  const step = fc.record({ wait: fc.integer({ min: 0, max: 5 * MINUTE }), good: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const throttle = new LoginThrottle();
      const failed: number[] = [];
      let now = 0;
      for (const { wait, good } of steps) {
        now += wait;
        const attempt = throttle.attempt("a", "192.0.2.1", now);
        const recent = failed.filter((at) => at > now - 15 * MINUTE).length;
        expect(attempt.ok).toBe(recent < 10);
        if (!attempt.ok) continue;
        if (good) attempt.succeeded();
        else failed.push(now);
      }
    }),
  );
});
