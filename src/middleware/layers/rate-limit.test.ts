import { describe, expect, test } from "vitest";
import { callOf, newTrail, type TestCall, testPipeline } from "../layer.fixture.ts";
import type { LayerRequest } from "../layer.ts";

const three = (more: object = {}) => ({ use: "rate-limit", requests: 3, per: "60s", ...more });
const times = (count: number) => Array.from({ length: count }, (_, n) => n);
const passed = (outcomes: readonly string[]) => outcomes.filter((text) => text.startsWith("{")).length;

describe("a limit of 3 calls per 60 s", () => {
  test("passes exactly three of forty simultaneous calls, and tells the others when to retry", async () => {
    const { outcome, call, seen } = await testPipeline([three()]);
    expect(passed(await Promise.all(times(40).map(() => outcome())))).toBe(3);
    expect(seen).toHaveLength(3);
    await expect(call()).rejects.toMatchObject({ code: "rate_limited", context: { retryAfterMs: 20_000 } });
  });

  test("allows one more call every 20 s, and never more than three at once", async () => {
    const { outcome, clock } = await testPipeline([three()]);
    const asked = async (count: number) => {
      const outcomes: string[] = [];
      for (const _ of times(count)) outcomes.push(await outcome());
      return passed(outcomes);
    };
    expect(await asked(40)).toBe(3);
    clock.advance(19_999);
    expect(await asked(2)).toBe(0);
    clock.advance(1);
    expect(await asked(2)).toBe(1);
    clock.advance(3_600_000);
    expect(await asked(40)).toBe(3);
  });

  test("uses the option burst", async () => {
    const { outcome, clock } = await testPipeline([three({ burst: 1 })]);
    expect(await outcome()).toMatch(/done/);
    expect(await outcome()).toBe("rate_limited");
    clock.advance(20_000);
    expect(await outcome()).toMatch(/done/);
  });
});

const ADA = { id: "ada", kind: "account" } as const;
const asked = (principal: object, more: object = {}): TestCall => ({ principal, more });
const session = (id: string, sessionless = false): TestCall => {
  const call = callOf();
  return { more: { origin: { ...call.origin, session: id, sessionless } } };
};

test.each<[unknown, TestCall, TestCall, boolean]>([
  [
    "key",
    asked({ ...ADA, key: { id: "a", name: "a" } }),
    asked({ ...ADA, key: { id: "b", name: "b" } }),
    true,
  ],
  ["key", asked(ADA), asked(ADA), false],
  [
    undefined,
    asked({ ...ADA, key: { id: "a", name: "a" } }),
    asked({ ...ADA, key: { id: "b", name: "b" } }),
    false,
  ],
  [undefined, asked({ id: "key a", kind: "key" }), asked({ id: "key b", kind: "key" }), true],
  [
    "user",
    asked({ ...ADA, key: { id: "a", name: "a" } }),
    asked({ ...ADA, key: { id: "b", name: "b" } }),
    false,
  ],
  ["user", asked({ id: "key a", kind: "key" }), asked({ id: "key b", kind: "key" }), true],
  ["session", session("a"), session("b"), true],
  ["session", session("a", true), session("b", true), false],
  ["endpoint", asked(ADA), asked({ id: "eve" }), false],
  ["server", { tool: "one:a" }, { tool: "one:b" }, false],
  ["server", { tool: "one:a" }, { tool: "two:a" }, true],
  ["tool", { tool: "one:a" }, { tool: "one:b" }, true],
  ["tool", { tool: "one:a" }, { tool: "two:a" }, true],
  [["user", "tool"], { tool: "one:a", principal: ADA }, { tool: "one:b", principal: ADA }, true],
  [["user", "server"], { tool: "one:a", principal: ADA }, { tool: "one:b", principal: ADA }, false],
])("by %j: %j and %j are counted apart: %s", async (by, first, second, apart) => {
  const { outcome } = await testPipeline([
    { use: "rate-limit", requests: 1, per: "60s", ...(by === undefined ? {} : { by }) },
  ]);
  expect(await outcome(first)).toMatch(/done/);
  expect(await outcome(first)).toBe("rate_limited");
  expect(await outcome(second)).toMatch(apart ? /done/ : /^rate_limited$/);
});

test("a call that one limit refuses is not counted by the others, in any order", async () => {
  const few = { use: "rate-limit", requests: 1, per: "60s", by: "tool" };
  const many = { use: "rate-limit", requests: 5, per: "60s" };
  const lane = { use: "concurrency", max: 100 };
  for (const entries of [
    [many, few],
    [few, many],
    [many, lane, few],
  ]) {
    const { outcome } = await testPipeline(entries);
    for (const _ of times(10)) await outcome({ tool: "one:a" });
    for (const name of ["b", "c", "d", "e", "f", "g"]) await outcome({ tool: `one:${name}` });
    // The five counted calls are one each of a to e: refused calls are not counted.
    const outcomes = await Promise.all(["h", "i"].map((name) => outcome({ tool: `one:${name}` })));
    expect(passed(outcomes)).toBe(0);
  }
});

test("a call that concurrency refuses is not counted", async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { outcome, call } = await testPipeline(
    [
      { use: "rate-limit", requests: 2, per: "60s" },
      { use: "concurrency", max: 1 },
    ],
    async () => {
      await held;
      return Buffer.from("{}") as never;
    },
  );
  const first = call();
  expect(await outcome()).toBe("rate_limited");
  release?.();
  await first;
  expect(await outcome()).toBe("{}");
  expect(await outcome()).toBe("rate_limited");
});

test("no approval is requested for a call that an inner limit refuses", async () => {
  const { outcome, waiting } = await testPipeline([
    { use: "rate-limit", requests: 5, per: "60s" },
    { use: "policy", default: "allow", rules: [{ effect: "approve", args: { ask: { in: [true] } } }] },
    { use: "rate-limit", requests: 1, per: "60s" },
  ]);
  expect(await outcome({ args: { ask: false } })).toMatch(/done/);
  expect(await outcome({ args: { ask: true } })).toBe("rate_limited");
  expect(waiting).toEqual([]);
});

test("every request counts, except the end of a subscription", async () => {
  const { outcome } = await testPipeline([{ use: "rate-limit", requests: 1, per: "60s" }]);
  const method = (name: LayerRequest["method"]) => ({ more: { method: name } });
  expect(await outcome(method("resources/unsubscribe"))).toMatch(/done/);
  expect(await outcome(method("resources/read"))).toMatch(/done/);
  for (const name of ["prompts/get", "resources/subscribe", "completion/complete", "a/method/of/tomorrow"])
    expect(await outcome(method(name))).toBe("rate_limited");
  expect(await outcome(method("resources/unsubscribe"))).toMatch(/done/);
});

test("the trail names the layer that refused", async () => {
  const { outcome } = await testPipeline([{ use: "timeout", timeoutMs: 5_000 }, three({ requests: 1 })]);
  await outcome();
  const trail = newTrail();
  await outcome({ more: { trail } });
  expect(trail).toMatchObject({
    by: "rate-limit",
    layers: [
      { use: "timeout", outcome: "passed" },
      { use: "rate-limit", outcome: "refused" },
    ],
  });
});
