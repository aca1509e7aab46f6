import { expect, test } from "vitest";
import { originOf, specOf } from "../../test/support/scripted-server.ts";
import { type Claim, claimOf } from "./claim.ts";
import { Health } from "./health.ts";
import { ChildFailure } from "./link.ts";

const OPTIONS = { threshold: 2, cooldownMs: 1_000 };
const crash = new ChildFailure("stdio-exit", "it crashed");

function claimed(
  health: Health,
  { repeat = "safe", sent = true } = {} as { repeat?: Claim["repeat"]; sent?: boolean },
) {
  const origin = originOf("s");
  const claim = claimOf({ origin, uplink: origin.uplink, repeat }, health.admit("x", 0));
  claim.tries = 1;
  if (sent) claim.id = 1;
  return claim;
}

test("after enough failures every caller is refused; after the cooldown one is admitted, and its success closes the breaker", () => {
  const health = new Health(() => OPTIONS);
  for (let n = 0; n < 2; n++)
    health.failed(health.admit("x", n), new ChildFailure("offline", `failure ${n}`), n);
  expect(health.open).toBe(true);
  expect(() => health.admit("x", 500)).toThrow(
    expect.objectContaining({
      code: "server_unavailable",
      context: expect.objectContaining({ retryAfterMs: 501 }),
    }),
  );
  expect(() => health.admit("x", 500)).toThrow(/failure 1/);
  const probe = health.admit("x", 1_001);
  expect(() => health.admit("x", 1_001)).toThrow();
  health.settle(probe, "healthy", 1_002);
  expect([health.open, health.lastFailure, health.blockedFor(1_002)]).toEqual([false, undefined, 0]);
});

test("a blocked server is worth another try only if its last failure may pass by itself", () => {
  const blockedBy = (failure: ChildFailure): unknown => {
    const health = new Health(() => OPTIONS);
    for (let n = 0; n < 2; n++) health.failed(health.current, failure, n);
    try {
      return health.admit("x", 2);
    } catch (error) {
      return error;
    }
  };
  expect(blockedBy(new ChildFailure("offline", "It is busy."))).toMatchObject({
    retryable: true,
    message: "x is blocked after repeated failures (last: It is busy). Use another server, or wait.",
  });
  expect(blockedBy(new ChildFailure("offline", "Install it.", { needsFix: true }))).toMatchObject({
    retryable: false,
    message: "x is blocked after repeated failures (last: Install it). Use another server, or fix this.",
  });
});

test("a noted reason is shown and does not count as a failure", () => {
  const health = new Health(() => OPTIONS);
  for (let n = 0; n < 5; n++) health.note("auth_required: log in");
  expect([health.open, health.lastFailure]).toEqual([false, "auth_required: log in"]);
});

test("a crash counts once for all its calls, and not at all if a retry recovers from it", () => {
  const health = new Health(() => OPTIONS);
  const claims = [claimed(health), claimed(health), claimed(health, { repeat: "unsafe" })];
  const loss = { claims, failure: crash, counted: false, before: undefined, now: 0 };
  const first = health.connectionLost(specOf("x"), loss);
  expect(claims.map(({ retry }) => retry)).toEqual([true, true, false]);
  for (const { admitted } of claims.slice(0, 2)) health.settleCrash(first, "recovered", admitted, 1);
  expect(health.open).toBe(false);

  // The server was restarted a moment ago, so its calls are not retried and count as one failure.
  const next = [claimed(health), claimed(health)];
  const second = health.connectionLost(specOf("x"), { ...loss, claims: next, now: 10 });
  expect(next.some((claim) => claim.retry)).toBe(false);
  for (const { admitted } of next) health.settleCrash(second, "unknown", admitted, 11);
  expect([health.open, health.lastFailure]).toEqual([false, "it crashed"]);
  health.failed(health.current, new ChildFailure("offline", "once more"), 12);
  expect(health.open).toBe(true);
});

test("a vital server is always restarted, and an unsent call is retried on any server", () => {
  const health = new Health(() => OPTIONS);
  for (let now = 0; now < 3; now++) {
    const claim = claimed(health);
    health.connectionLost(specOf("x", { criticality: "vital" }), {
      claims: [claim],
      failure: crash,
      counted: true,
      before: undefined,
      now,
    });
    expect(claim.retry).toBe(true);
  }
  const unsent = claimed(health, { repeat: "unsafe", sent: false });
  const loss = { claims: [unsent], failure: crash, counted: true, before: undefined, now: 4 };
  health.connectionLost(specOf("x"), loss);
  expect(unsent.retry).toBe(true);
});

test("after a settings change neither past failures nor late results count", () => {
  const health = new Health(() => OPTIONS);
  const before = health.admit("x", 0);
  health.failed(before, new ChildFailure("offline", "old"), 0);
  health.forget();
  expect(health.lastFailure).toBeUndefined();
  health.failed(before, new ChildFailure("offline", "late"), 1);
  health.failed(before, new ChildFailure("offline", "later"), 2);
  expect(health.open).toBe(false);
});
