import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { watchFacts } from "./facts.ts";
import type { Fact } from "./notices.ts";

test("a key that expires soon is told once, not with each look; one that has expired is not", () => {
  const clock = new ManualClock();
  const facts: Fact[] = [];
  const key = (id: string, inMs: number) => ({
    id,
    name: id,
    owner: undefined,
    expiresAt: Math.round(Date.now() + inMs),
  });
  const keys = [key("soon", 3 * 3_600_000), key("gone", -1)];
  const stop = watchFacts(
    {
      events: { on: () => () => {} },
      clock,
      serverName: () => undefined,
      expiringBefore: () => keys,
      auditLost: () => 0,
      replica: "one",
    },
    (fact) => facts.push(fact),
  );
  clock.advance(60_000);
  clock.advance(60_000);
  expect(facts).toMatchObject([{ event: "key.expiring", object: { uuid: "soon" } }]);
  stop();
});
