/** Calls that wait in a queue while the layers or the rights of their caller change. */
import { expect, test } from "vitest";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { callOf, newTrail, RESULT, raw } from "../middleware/layer.fixture.ts";
import type { LayerEntry } from "../middleware/layer.ts";
import {
  allow,
  byEndpoint,
  cache,
  changingLayers,
  deny,
  one,
  own,
  perHour,
  reading,
} from "./scope-layers.fixture.ts";

test("a call that is denied while it waits in a queue does not reach the server", async () => {
  for (const entries of [
    [allow, one],
    [one, allow],
  ] as const) {
    const { calls, change, seen } = await changingLayers(entries);
    const [first, second] = calls(2);
    await change(entries.map((entry) => (entry === allow ? deny : entry)));
    seen[0]?.answer();
    expect(await first).toBe(RESULT);
    expect(await second).toBe("tool_not_found");
    expect(seen).toHaveLength(1);
  }
});

test("a call whose caller loses a role while it waits in a queue is judged without it", async () => {
  const leads: LayerEntry = { use: "policy", rules: [{ effect: "allow", who: { groups: ["leads"] } }] };
  const { call, seen } = await changingLayers([leads, one]);
  let groups = ["leads"];
  const given = callOf();
  const principal: Principal = {
    ...given.origin.principal,
    get groups() {
      return groups;
    },
  };
  const ofLead = { ...given, origin: { ...given.origin, principal } };
  const [first, second] = [call(ofLead), call(ofLead)];
  groups = [];
  seen[0]?.answer();
  expect(await first).toBe(RESULT);
  expect(await second).toBe("tool_not_found");
  expect(seen).toHaveLength(1);
});

test("calls that waited run after a change in the order in which they came, and limits count them once", async () => {
  const { calls, call, change, reached, answerAll } = await changingLayers([perHour, allow, one]);
  const early = calls(3);
  await change([perHour, { ...allow, default: "allow", rules: [{ effect: "allow" }] }, one]);
  await answerAll(3);
  expect(await Promise.all(early)).toEqual([RESULT, RESULT, RESULT]);
  expect(reached()).toEqual([1, 2, 3]);
  const later = [call(), call()];
  await answerAll(5);
  expect(await Promise.all(later)).toEqual([RESULT, RESULT]);
  expect(await call()).toBe("rate_limited");
});

test("a call passes the layers once if nothing changes while it waits", async () => {
  let runs = 0;
  const counting = own({
    call: (next) => (call) => {
      runs += 1;
      return next(call);
    },
  });
  const { calls, answerAll } = await changingLayers([counting, one]);
  const answers = calls(3);
  await answerAll(3);
  await Promise.all(answers);
  expect(runs).toBe(3);
});

test("a call starts again before it waits if the layers changed, so that it does not wait in an outdated order", async () => {
  const held: (() => void)[] = [];
  const slow = own({
    call: (next) => async (call) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return await next(call);
    },
  });
  const { call, change, answerAll } = await changingLayers([byEndpoint, slow, one]);
  const first = call({ args: { n: 1 } });
  await change([one, byEndpoint]);
  const second = call({ args: { n: 2 } });
  held[0]?.();
  await answerAll(2);
  expect(await Promise.all([first, second])).toEqual([RESULT, RESULT]);
});

test("calls in the queue of a removed layer follow as soon as one of them has its turn", async () => {
  const { calls, change, seen } = await changingLayers([one]);
  const answers = calls(4);
  await change([]);
  seen[0]?.answer();
  await expect.poll(() => seen.length).toBe(4);
  for (const { answer } of seen) answer();
  expect(await Promise.all(answers)).toEqual(Array(4).fill(RESULT));
});

test("twins of a call that starts again are judged again too, and share one call", async () => {
  for (const [rules, reached] of [
    [allow, 2],
    [deny, 1],
  ] as const) {
    const { call, change, seen, answerAll } = await changingLayers([
      { ...allow, rules: [{ effect: "allow" }] },
      cache,
      one,
    ]);
    const first = call({ args: { n: 1 } });
    const twins = [call(reading), call(reading), call(reading)];
    await change([rules, cache, one]);
    await answerAll(reached);
    expect(await first).toBe(RESULT);
    const expected = rules === deny ? "tool_not_found" : RESULT;
    expect(await Promise.all(twins)).toEqual(twins.map(() => expected));
    expect(seen).toHaveLength(reached);
  }
});

test("a twin that must make the call itself is judged again", async () => {
  for (const inner of [[cache], [cache, one]]) {
    const { call, change, seen } = await changingLayers([allow, ...inner]);
    const [first, second] = [call(reading), call(reading)];
    await change([deny, ...inner]);
    seen[0]?.fail();
    await first;
    expect(await second).toBe("tool_not_found");
    expect(seen).toHaveLength(1);
  }
});

test("starting again gives a call no more time", async () => {
  for (const limit of [{ deadlineMs: 1_000 }, { timeoutMs: 1_000 }]) {
    const { calls, change, clock, seen } = await changingLayers([{ use: "timeout", ...limit }, allow, one]);
    const [first, second] = calls(2);
    clock.advance(900);
    await change([{ use: "timeout", ...limit }, one]);
    seen[0]?.answer();
    await first;
    await expect.poll(() => seen.length).toBe(2);
    clock.advance(150);
    expect(await second).toBe("timeout");
  }
});

test("no slot is lost when a call is cancelled, refused or abandoned around its turn", async () => {
  const impatient = own({
    call: (next) => (call) =>
      Promise.race([
        next({ ...call, signal: new CallSignal() }),
        new Promise<Raw>((resolve) => call.signal.addEventListener("abort", () => resolve(raw("{}")))),
      ]),
  });
  for (const entries of [
    [allow, one],
    [impatient, one],
  ] as const) {
    const { calls, call, change, seen, answerAll } = await changingLayers(entries);
    const [first] = calls(1);
    const given = Array.from({ length: 3 }, () => callOf({ args: { n: 9 } }));
    const ending = given.map((one) => call(one));
    (given[0]?.signal as CallSignal).abort(new Error("gave up"));
    await change([deny, ...entries]);
    seen[0]?.answer();
    (given[1]?.signal as CallSignal).abort(new Error("gave up"));
    await Promise.all([first, ...ending]);
    await change(entries);
    const after = calls(2);
    await answerAll(3);
    expect(await Promise.all(after)).toEqual([RESULT, RESULT]);
  }
});

test("the record of a call that started again shows each layer once", async () => {
  const { call, change, clock, seen } = await changingLayers([allow, one]);
  const trail = newTrail();
  const [first, second] = [call(), call({ more: { trail } })];
  clock.advance(5_000);
  await change([{ ...allow, rules: [{ effect: "allow" }] }, one]);
  seen[0]?.answer();
  await first;
  await expect.poll(() => seen.length).toBe(2);
  seen[1]?.answer();
  await second;
  expect(trail.layers).toMatchObject([
    { use: "policy", outcome: "passed" },
    { use: "concurrency", outcome: "passed", ms: 5_000 },
  ]);
  expect(trail.by).toBeUndefined();
});
