import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { explainLayers } from "../explain.ts";
import { callOf, newTrail, raw, testPipeline } from "../layer.fixture.ts";

const READS = { annotations: { readOnlyHint: true } };
const turns = async (): Promise<void> => {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
};

interface Attempt {
  readonly call: Call;
  answer(text: string): void;
  fail(error: Error): void;
}

/** The server answers when the test says so, and rejects when it is cancelled. */
async function slow(entries: Parameters<typeof testPipeline>[0]) {
  const attempts: Attempt[] = [];
  const made = await testPipeline(
    entries,
    (call) =>
      new Promise<Raw>((resolve, reject) => {
        call.signal.addEventListener("abort", () => reject(call.signal.reason as Error));
        attempts.push({ call, answer: (text) => resolve(raw(`"${text}"`)), fail: reject });
      }),
  );
  return { ...made, attempts };
}

test("a slow call gets a second attempt; the first answer counts and the other attempt is cancelled", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 100, most: 1 }]);
  for (const winner of [0, 1]) {
    attempts.length = 0;
    const answered = outcome(READS);
    await turns();
    clock.advance(99);
    expect(attempts).toHaveLength(1);
    clock.advance(1);
    await turns();
    attempts[winner]?.answer(`of ${winner}`);
    expect(await answered).toBe(`"of ${winner}"`);
    expect(attempts.map(({ call }) => call.signal.aborted)).toEqual([winner === 1, winner === 0]);
    expect(attempts[0]?.call.beside).toBe(attempts[1]?.call.beside);
  }
  expect(clock.pending).toBe(0);
});

test.each([
  ["without annotations", {}],
  ["that writes", { readOnlyHint: false, idempotentHint: true }],
  ["that reads but is not idempotent", { readOnlyHint: true, idempotentHint: false }],
])("a tool %s never gets a second attempt", async (_what, annotations) => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 1, most: 1 }]);
  const answered = outcome({ annotations });
  await turns();
  clock.advance(1_000);
  await turns();
  expect(attempts).toHaveLength(1);
  attempts[0]?.answer("late");
  expect(await answered).toBe('"late"');
});

test("second attempts are limited to the given share of calls, but one is always allowed", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 0.1 }]);
  const tried: number[] = [];
  for (let n = 0; n < 40; n++) {
    attempts.length = 0;
    const answered = outcome(READS);
    await turns();
    clock.advance(10);
    tried.push(attempts.length);
    for (const { answer } of attempts) answer("x");
    await answered;
  }
  expect(tried.filter((count) => count === 2)).toHaveLength(4);
  expect(tried[0]).toBe(2);
  expect(Math.max(...tried)).toBe(2);
});

test("the percentile is computed from the last calls of the tool, and there is no second attempt before", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterPercentile: 90, most: 1 }]);
  const take = async (ms: number): Promise<number> => {
    attempts.length = 0;
    const answered = outcome(READS);
    await turns();
    clock.advance(ms);
    await turns();
    const { length } = attempts;
    attempts[0]?.answer("x");
    await answered;
    return length;
  };
  for (let n = 0; n < 10; n++) expect(await take(n === 9 ? 500 : 100)).toBe(1);
  expect(await take(100)).toBe(1);
  expect(await take(499)).toBe(1);
  expect(await take(500)).toBe(2);
});

test("after a failed attempt the other one still counts; without another one the call fails at once", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 1 }]);
  const broken = new MetaMcpError("server_unavailable", "it died");
  const answered = outcome(READS);
  await turns();
  clock.advance(10);
  attempts[1]?.fail(broken);
  await turns();
  attempts[0]?.answer("alive");
  expect(await answered).toBe('"alive"');

  attempts.length = 0;
  const lost = outcome(READS);
  await turns();
  attempts[0]?.fail(broken);
  expect(await lost).toBe("server_unavailable");
  clock.advance(10);
  await turns();
  expect(attempts, "no attempt after the end").toHaveLength(1);
});

test("cancelling the call cancels both attempts", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 1 }]);
  const signal = new CallSignal();
  const answered = outcome(callOf({ ...READS, more: { signal } }));
  await turns();
  clock.advance(10);
  signal.abort(new MetaMcpError("cancelled", "no more"));
  expect(await answered).toBe("cancelled");
  expect(attempts.map(({ call }) => call.signal.aborted)).toEqual([true, true]);
});

test("other layers see one call, in any order; the trail counts two attempts", async () => {
  const limit = { use: "rate-limit", requests: 2, per: "1h" };
  const one = { use: "concurrency", max: 1 };
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 1 }, limit, one]);
  const trail = newTrail();
  const answered = outcome({ ...READS, more: { trail } });
  await turns();
  clock.advance(10);
  expect(attempts).toHaveLength(2);
  attempts[1]?.answer("x");
  expect(await answered).toBe('"x"');
  expect(trail.layers.map(({ use }) => use)).toEqual(["hedge", "rate-limit", "concurrency"]);
  expect(trail.attempts).toBe(2);
  const next = outcome(READS);
  await turns();
  attempts.at(-1)?.answer("y");
  expect(await next).toBe('"y"');
  expect(await outcome(READS)).toBe("rate_limited");
});

test("questions and progress come only from the first attempt, and a question prevents a second attempt", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 1 }]);
  const asked: string[] = [];
  const told: string[] = [];
  const uplink = {
    notify: (method: string) => void told.push(method),
    request: (method: string) => {
      asked.push(method);
      return Promise.resolve(raw("{}"));
    },
  };
  const signal = new CallSignal();
  const answered = outcome(callOf({ ...READS, more: { uplink } }));
  await turns();
  await attempts[0]?.call.uplink.request("elicitation/create", undefined, signal);
  clock.advance(10);
  expect(attempts, "the server is not slow").toHaveLength(1);
  attempts[0]?.answer("x");
  await answered;

  attempts.length = 0;
  const other = outcome(callOf({ ...READS, more: { uplink } }));
  await turns();
  clock.advance(10);
  for (const { call } of attempts) call.uplink.notify("notifications/progress", undefined);
  attempts[1]?.call.uplink.notify("notifications/message", undefined);
  await expect(attempts[1]?.call.uplink.request("elicitation/create", undefined, signal)).rejects.toThrow();
  expect(attempts[1]?.call.signal.aborted).toBe(true);
  attempts[0]?.answer("of the first");
  expect(await other).toBe('"of the first"');
  expect([asked, told]).toEqual([
    ["elicitation/create"],
    ["notifications/progress", "notifications/message"],
  ]);
});

test("the timer for the second attempt pauses while the call is held", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 100, most: 1 }]);
  const answered = outcome(READS);
  await turns();
  clock.advance(60);
  const releases = [attempts[0]?.call.hold?.(), attempts[0]?.call.hold?.()];
  clock.advance(600_000);
  for (const release of releases) {
    expect(attempts).toHaveLength(1);
    release?.();
    clock.advance(39);
    await turns();
  }
  clock.advance(1);
  await turns();
  expect(attempts).toHaveLength(2);
  attempts[1]?.answer("x");
  expect(await answered).toBe('"x"');
  expect(clock.pending).toBe(0);
});

test("the time that a person takes to answer does not count for the percentile", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterPercentile: 50, most: 1 }]);
  const uplink = { notify: () => {}, request: () => Promise.resolve(raw("{}")) };
  const take = async (ms: number): Promise<number> => {
    attempts.length = 0;
    const answered = outcome(callOf({ ...READS, more: { uplink } }));
    await turns();
    const asked = attempts[0]?.call.uplink.request("elicitation/create", undefined, new CallSignal());
    clock.advance(60_000);
    await asked;
    clock.advance(ms);
    await turns();
    const { length } = attempts;
    attempts[0]?.answer("x");
    await answered;
    return length;
  };
  for (let n = 0; n < 10; n++) expect(await take(100), "no second attempt after a question").toBe(1);
  attempts.length = 0;
  const answered = outcome(READS);
  await turns();
  clock.advance(100);
  await turns();
  expect(attempts).toHaveLength(2);
  attempts[0]?.answer("x");
  await answered;
});

test("explain describes the second attempt", async () => {
  const { layers } = await testPipeline([
    { use: "hedge", afterMs: 100 },
    { use: "hedge", afterPercentile: 95 },
  ]);
  const said = async (wanted: Parameters<typeof callOf>[0]) =>
    (await explainLayers(layers, callOf(wanted))).steps;
  expect((await said(READS)).map(({ effect, reason }) => [effect, reason])).toEqual([
    ["change", "also sent to another instance, if the server has several, when it is slower than 100 ms"],
    [
      "change",
      "also sent to another instance, if the server has several, when it is slower than 95 % of its last calls",
    ],
  ]);
  expect((await said({})).map(({ effect }) => effect)).toEqual(["pass", "pass"]);
});
