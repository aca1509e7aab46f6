import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { callOf, newTrail, raw, registry, type TestCall, testPipeline } from "../layer.fixture.ts";

const READ = { readOnlyHint: true };
const ask = (more: TestCall = {}): TestCall => ({ annotations: READ, ...more });

async function counting(options: object = {}, answer?: (call: Call, n: number) => Promise<Raw>) {
  let count = 0;
  const made = await testPipeline([{ use: "cache", ttlMs: "1m", ...options }], (call) => {
    count += 1;
    return answer ? answer(call, count) : Promise.resolve(raw(`{"n":${count}}`));
  });
  return { ...made, count: () => count };
}

test("a repeated call gets the cached bytes until the TTL ends, and the trail says so", async () => {
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

test.each<[string, TestCall, TestCall, boolean]>([
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
])("arguments are compared as JSON values: %s", async (_what, first, second, same) => {
  const { call, count } = await counting();
  await call(first);
  await call(second);
  expect(count()).toBe(same ? 1 : 2);
});

test.each<[string, TestCall]>([
  ["of tools that are not read-only", { annotations: {} }],
  ["of tools that are not idempotent", { annotations: { ...READ, idempotentHint: false } }],
  ["with a duplicate key", ask({ written: '{"a":1,"a":2}' })],
  ["with large arguments", ask({ args: { a: "x".repeat(70_000) } })],
  ["of tools that the option does not name", ask({ tool: "other:echo" })],
  ["that read resources", ask({ more: { method: "resources/read" } })],
  ["that run as tasks", ask({ more: { task: { support: "optional", request: {} as never } } })],
])("does not cache calls %s", async (_what, wanted) => {
  const { call, count } = await counting({ tools: ["one:*", "two:*"] });
  await call(wanted);
  await call(wanted);
  expect(count()).toBe(2);
});

const as = (id: string, more: object = {}): TestCall => ask({ principal: { id }, ...more });

test("results are cached per principal, or shared with by: shared, but never shared for a server with credentials per account", async () => {
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

test("does not cache that a process was replaced", async () => {
  const told = '{"_meta":{"metamcp/restarted":{"reason":"it died","note":"n"}}}';
  const replaced = await counting({}, async (_call, n) => raw(n === 1 ? told : "{}"));
  expect([await replaced.outcome(ask()), await replaced.outcome(ask())]).toEqual([told, "{}"]);
});

test("does not cache errors or results with isError", async () => {
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

test("identical calls in flight share one call, which continues while one caller waits", async () => {
  const { call, count, seen, answers } = await held();
  const first = callOf(ask());
  const callers = [call(first), call(ask()), call(ask())];
  (first.signal as CallSignal).abort(new Error("changed my mind"));
  await expect(callers[0]).rejects.toThrow("changed my mind");
  expect(seen[0]?.signal.aborted).toBe(false);
  answers[0]?.(raw('{"n":1}'));
  expect((await Promise.all(callers.slice(1))).map(String)).toEqual(['{"n":1}', '{"n":1}']);
  expect(count()).toBe(1);
});

test("a shared call is cancelled when all callers have cancelled", async () => {
  const { call, seen } = await held();
  const calls = [callOf(ask()), callOf(ask())];
  const callers = calls.map((one) => call(one).catch(String));
  for (const { signal } of calls) (signal as CallSignal).abort(new Error("gone"));
  await Promise.all(callers);
  expect(seen[0]?.signal.aborted).toBe(true);
});

test("if the shared call fails or asks a question, the other callers make their own call", async () => {
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

test("an administrator who acts as an account gets none of its cached results", async () => {
  const { call, count } = await counting();
  const ada = { id: "u1", kind: "account" } as const;
  await call(ask({ principal: ada }));
  await call(ask({ principal: { ...ada, actor: { kind: "account", id: "root", name: "root" } } }));
  expect(count()).toBe(2);
  await call(ask({ principal: ada }));
  expect(count()).toBe(2);
});

test("drops the oldest entries above maxBytes", async () => {
  const { call, count } = await counting({ maxBytes: 300 }, async (_call, n) =>
    raw(JSON.stringify({ n, x: "x".repeat(60) })),
  );
  for (const n of [1, 2, 3, 4]) await call(ask({ args: { n } }));
  await call(ask({ args: { n: 4 } }));
  expect(count()).toBe(4);
  await call(ask({ args: { n: 1 } }));
  expect(count()).toBe(5);
});

test("the order check requires the cache inside policy, filter and flow", () => {
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

const accepting = (wanted: TestCall, asked: string[]): Call => {
  const call = callOf(wanted);
  const uplink = {
    notify: () => {},
    request: async () => {
      asked.push(call.origin.principal.id);
      return raw('{"action":"accept"}');
    },
  };
  return { ...call, uplink, origin: { ...call.origin, capabilities: raw('{"elicitation":{}}') } };
};

test("a call that a person had to permit inside the cache is permitted for its caller only", async () => {
  const { call, seen } = await testPipeline([
    { use: "cache", ttlMs: "1m", by: "shared" },
    { use: "ask", tools: ["*"] },
  ]);
  const asked: string[] = [];
  const by = (id: string): Call => accepting(ask({ principal: { id } }), asked);
  await Promise.all([call(by("ada")), call(by("eve"))]);
  expect(asked.toSorted()).toEqual(["ada", "eve"]);
  await call(by("kim"));
  await call(by("ada"));
  expect(asked.slice(2)).toEqual(["kim", "ada"]);
  expect(seen).toHaveLength(4);
});

test("a call that a person permitted outside the cache is cached", async () => {
  const { call, seen } = await testPipeline([
    { use: "ask", tools: ["*"] },
    { use: "cache", ttlMs: "1m" },
  ]);
  const asked: string[] = [];
  await call(accepting(ask(), asked));
  await call(accepting(ask(), asked));
  expect([asked.length, seen.length]).toEqual([2, 1]);
});
