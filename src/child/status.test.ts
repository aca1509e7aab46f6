import { expect, test } from "vitest";
import { specOf } from "../../test/support/scripted-server.ts";
import { Health } from "./health.ts";
import { ChildFailure } from "./link.ts";
import { statusOf } from "./status.ts";

test("the reason of a blocked server is one sentence, whatever the failure ends with", () => {
  const health = new Health(() => ({ threshold: 1, cooldownMs: 30_000 }));
  health.failed(health.current, new ChildFailure("offline", "The command was not found. Install it."), 0);
  expect(statusOf(specOf("x"), [], health, 6_000)).toMatchObject({
    reason:
      "blocked after repeated failures: The command was not found. Install it; next attempt allowed in 24 s",
    retryAfterMs: 24_000,
  });
  expect(() => health.admit("x", 6_000)).toThrow(
    "x is blocked after repeated failures (last: The command was not found. Install it). Use another server, or wait.",
  );
});
