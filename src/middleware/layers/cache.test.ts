import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { callOf, newTrail, raw, registry, stand, type Wanted } from "../layer.fixture.ts";

const READ = { readOnlyHint: true };
const ask = (more: Wanted = {}): Wanted => ({ annotations: READ, ...more });

async function counting(options: object = {}, answer?: (call: Call, n: number) => Promise<Raw>) {
  let count = 0;
  const made = await stand([{ use: "cache", ttlMs: "1m", ...options }], (call) => {
    count += 1;
    return answer ? answer(call, count) : Promise.resolve(raw(`{"n":${count}}`));
  });
  return { ...made, count: () => count };
}

test("the same answer for a while, with the same bytes, and said in the trail", async () => {
  const { call, clock, count } = await counting();
  const first = await call(ask());
  const trail = newTrail();
  expect(await call(ask({ more: { trail } }))).toEqual(first);
  expect(trail).toMatchObject({ cached: true, layers: [{ use: "cache", outcome: "answered" }] });
  clock.advance(59_999);
  await call(ask());
  expect(count()).toBe(1);
  clock.advance(1);
  expect(String(await call(ask()))).toBe('{"n":2}');
});

test.each<[string, Wanted, Wanted, boolean]>([
  [
    "the order of members",
    ask({ written: '{"a":1,"b":[2]}' }),
    ask({ written: '{ "b": [2], "a": 1.0 }' }),
    true,
  ],
  ["another value", ask({ args: { a: 1 } }), ask({ args: { a: 2 } }), false],
  ["text and number", ask({ args: { a: 1 } }), ask({ args: { a: "1" } }), false],
  ["null and nothing", ask({ args: { a: null } }), ask({ args: {} }), false],
  ["the order of a list", ask({ args: { a: [1, 2] } }), ask({ args: { a: [2, 1] } }), false],
  [
    "digits beyond 2^53",
    ask({ written: '{"a":9007199254740992}' }),
    ask({ written: '{"a":9007199254740993}' }),
    false,
  ],
  ["another tool", ask(), ask({ tool: "one:other" }), false],
  ["another server", ask(), ask({ tool: "two:echo" }), false],
])("equal as JSON: %s", async (_what, first, second, same) => {
  const { call, count } = await counting();
  await call(first);
  await call(second);
  expect(count()).toBe(same ? 1 : 2);
});

test.each<[string, Wanted]>([
  ["that may change something", { annotations: {} }],
  ["that is not idempotent", { annotations: { ...READ, idempotentHint: false } }],
  ["of names that come twice", ask({ written: '{"a":1,"a":2}' })],
  ["of large arguments", ask({ args: { a: "x".repeat(70_000) } })],
  ["of other tools", ask({ tool: "other:echo" })],
  ["that are no tools", ask({ more: { method: "resources/read" } })],
  ["that run as tasks", ask({ more: { task: { support: "optional", wish: {} as never } } })],
])("nothing is kept of calls %s", async (_what, wanted) => {
  const { call, count } = await counting({ tools: ["one:*", "two:*"] });
  await call(wanted);
  await call(wanted);
  expect(count()).toBe(2);
});

const as = (id: string, more: object = {}): Wanted => ask({ principal: { id }, ...more });

test("by principal unless shared is said, and never across accounts that a server knows apart", async () => {
  const own = await counting();
  await own.call(as("ada"));
  await own.call(as("eve"));
  expect(own.count()).toBe(2);
  const shared = await counting({ by: "shared" });
  await shared.call(as("ada"));
  await shared.call(as("eve"));
  expect(shared.count()).toBe(1);
  const facts = {
    ...callOf(ask()).facts,
    server: "one",
    name: "echo",
    labels: [],
    annotations: READ,
    perAccount: true,
  };
  for (const id of ["ada", "eve", "ada"]) await shared.call(as(id, { more: { facts } }));
  expect(shared.count()).toBe(3);
});

test("errors are not kept, in whichever form they come", async () => {
  const failing = await counting({}, async (_call, n) => {
    if (n === 1) throw new TypeError("no");
    return raw(n === 2 ? '{"isError":true}' : "{}");
  });
  expect(await failing.outcome(ask())).toBe("internal");
  expect(await failing.outcome(ask())).toBe('{"isError":true}');
  expect(await failing.outcome(ask())).toBe("{}");
  expect(await failing.outcome(ask())).toBe("{}");
  expect(failing.count()).toBe(3);
});

async function held() {
  const answers: ((result: Raw) => void)[] = [];
  const made = await counting({}, () => new Promise<Raw>((resolve) => answers.push(resolve)));
  return { ...made, answers };
}

test("twins in flight share one call, which lasts while one of them waits", async () => {
  const { call, count, seen, answers } = await held();
  const first = callOf(ask());
  const twins = [call(first), call(ask()), call(ask())];
  (first.signal as CallSignal).abort(new Error("changed my mind"));
  await expect(twins[0]).rejects.toThrow("changed my mind");
  expect(seen[0]?.signal.aborted).toBe(false);
  answers[0]?.(raw('{"n":1}'));
  expect((await Promise.all(twins.slice(1))).map(String)).toEqual(['{"n":1}', '{"n":1}']);
  expect(count()).toBe(1);
});

test("when all twins gave up the call is cancelled", async () => {
  const { call, seen } = await held();
  const calls = [callOf(ask()), callOf(ask())];
  const twins = calls.map((one) => call(one).catch(String));
  for (const { signal } of calls) (signal as CallSignal).abort(new Error("gone"));
  await Promise.all(twins);
  expect(seen[0]?.signal.aborted).toBe(true);
});

test("what failed for the first need not fail for its twin, and what somebody was asked for is theirs alone", async () => {
  const failing = await counting({}, async (_call, n) => {
    await Promise.resolve();
    if (n === 1) throw new TypeError("no");
    return raw(`{"n":${n}}`);
  });
  const [first, second] = await Promise.all([failing.outcome(ask()), failing.outcome(ask())]);
  expect([first, second]).toEqual(["internal", '{"n":2}']);
  const asking = await counting({}, async (call, n) => {
    await call.uplink.request("elicitation/create", undefined, call.signal).catch(() => {});
    return raw(`{"n":${n}}`);
  });
  const answers = await Promise.all([asking.outcome(ask()), asking.outcome(ask())]);
  expect(answers).toEqual(['{"n":1}', '{"n":2}']);
});

test("whoever tries things out in the name of somebody gets none of their answers", async () => {
  const { call, count } = await counting();
  const ada = { id: "u1", kind: "account" } as const;
  await call(ask({ principal: ada }));
  await call(ask({ principal: { ...ada, actor: { kind: "account", id: "root", name: "root" } } }));
  expect(count()).toBe(2);
  await call(ask({ principal: ada }));
  expect(count()).toBe(2);
});

test("no more is kept than may be, the oldest goes first", async () => {
  const { call, count } = await counting({ maxBytes: 300 }, async (_call, n) =>
    raw(JSON.stringify({ n, x: "x".repeat(60) })),
  );
  for (const n of [1, 2, 3, 4]) await call(ask({ args: { n } }));
  await call(ask({ args: { n: 4 } }));
  expect(count()).toBe(4);
  await call(ask({ args: { n: 1 } }));
  expect(count()).toBe(5);
});

test("it must stand inside of what decides who may do something", () => {
  const [cache, limit] = [
    { use: "cache", ttlMs: 1 },
    { use: "rate-limit", requests: 1, per: 1 },
  ];
  for (const use of ["policy", "filter", "flow"]) {
    expect(registry.checkOrder([{ use }, cache])).toEqual([]);
    expect(registry.checkOrder([limit, cache, { use }])).toEqual([
      { at: 1, message: `must be inside "${use}": cached results would bypass it` },
    ]);
  }
  expect(registry.checkOrder([cache, { use: "redact" }, { use: "audit" }, limit])).toEqual([]);
});
