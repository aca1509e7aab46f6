import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { explainLayers } from "../explain.ts";
import { callOf, newTrail, raw, stand } from "../layer.fixture.ts";

const READS = { annotations: { readOnlyHint: true } };
const turns = async (): Promise<void> => {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
};

interface Attempt {
  readonly call: Call;
  answer(text: string): void;
  fail(error: Error): void;
}

/** A server that answers when the test says so, and hears when it is cancelled. */
async function slow(entries: Parameters<typeof stand>[0]) {
  const attempts: Attempt[] = [];
  const made = await stand(
    entries,
    (call) =>
      new Promise<Raw>((resolve, reject) => {
        call.signal.addEventListener("abort", () => reject(call.signal.reason as Error));
        attempts.push({ call, answer: (text) => resolve(raw(`"${text}"`)), fail: reject });
      }),
  );
  return { ...made, attempts };
}

test("a slow call is tried once more; the first answer counts and the other attempt is cancelled", async () => {
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
  ["says nothing of itself", {}],
  ["writes", { readOnlyHint: false, idempotentHint: true }],
  ["reads, and is another thing each time", { readOnlyHint: true, idempotentHint: false }],
])("what %s is never tried twice", async (_what, annotations) => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 1, most: 1 }]);
  const answered = outcome({ annotations });
  await turns();
  clock.advance(1_000);
  await turns();
  expect(attempts).toHaveLength(1);
  attempts[0]?.answer("late");
  expect(await answered).toBe('"late"');
});

test("no more than a share of calls are tried twice, and always one", async () => {
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

test("a percentile is that of the tool's own last calls, and nothing is tried before it is known", async () => {
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

test("an error of the server is an answer; what merely broke waits for the other attempt", async () => {
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
  expect(attempts, "nothing is tried after the end").toHaveLength(1);
});

test("who gives up cancels both", async () => {
  const { outcome, attempts, clock } = await slow([{ use: "hedge", afterMs: 10, most: 1 }]);
  const signal = new CallSignal();
  const answered = outcome(callOf({ ...READS, more: { signal } }));
  await turns();
  clock.advance(10);
  signal.abort(new MetaMcpError("cancelled", "no more"));
  expect(await answered).toBe("cancelled");
  expect(attempts.map(({ call }) => call.signal.aborted)).toEqual([true, true]);
});

test("layers see one call, whatever their order; the record says that it was tried twice", async () => {
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

test("one person is asked once, by the first attempt, and progress comes from the first alone", async () => {
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
  expect(attempts, "it is not the server that is slow").toHaveLength(1);
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

test("no time passes while somebody is asked: neither for a second attempt nor for what a tool takes", async () => {
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

test("a person who thinks about it makes no tool slow", async () => {
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
  for (let n = 0; n < 10; n++) expect(await take(100), "who was asked is not asked again").toBe(1);
  attempts.length = 0;
  const answered = outcome(READS);
  await turns();
  clock.advance(100);
  await turns();
  expect(attempts).toHaveLength(2);
  attempts[0]?.answer("x");
  await answered;
});

test("says what it would do", async () => {
  const { layers } = await stand([
    { use: "hedge", afterMs: 100 },
    { use: "hedge", afterPercentile: 95 },
  ]);
  const said = async (wanted: Parameters<typeof callOf>[0]) =>
    (await explainLayers(layers, callOf(wanted))).steps;
  expect((await said(READS)).map(({ effect, reason }) => [effect, reason])).toEqual([
    ["change", "also sent to another instance if it is slower than 100 ms"],
    ["change", "also sent to another instance if it is slower than 95 % of its last calls"],
  ]);
  expect((await said({})).map(({ effect }) => effect)).toEqual(["pass", "pass"]);
});
