import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { toRaw } from "../kernel/raw.ts";
import type { CallSignal } from "../kernel/signal.ts";
import { callOf, newTrail, RESULT, raw, registry, testPipeline } from "./layer.fixture.ts";
import type { LayerEntry, PlacedLayer } from "./layer.ts";
import { runPermitted, withPermission } from "./permission.ts";
import { pipelineOf } from "./pipeline.ts";

const approve: LayerEntry = { use: "policy", default: "allow", rules: [{ effect: "approve" }] };
const approveByLeads: LayerEntry = {
  ...approve,
  rules: [{ effect: "approve", by: { groups: ["leads"] } }],
};
const perHour = (requests: number): LayerEntry => ({ use: "rate-limit", requests, per: "1h" });

test("a limit outside of the layer that waits counts the call once", async () => {
  const { call, outcome, waiting, seen } = await testPipeline([perHour(1), approve]);
  const first = call();
  waiting[0]?.yes();
  expect(String(await first)).toBe(RESULT);
  expect(await outcome()).toBe("rate_limited");
  expect([waiting.length, seen.length]).toEqual([1, 1]);
});

test("a call that waited does not queue behind itself", async () => {
  const { call, waiting } = await testPipeline([{ use: "concurrency", max: 1 }, approve]);
  const first = call();
  waiting[0]?.yes();
  expect(String(await first)).toBe(RESULT);
});

test("an approval covers only the approvers that it came from", async () => {
  const { call, waiting, seen } = await testPipeline([approve, approve, approveByLeads]);
  const answer = call();
  waiting[0]?.yes();
  await expect.poll(() => waiting.length).toBe(2);
  expect(waiting.map(({ terms }) => terms.by)).toEqual([{}, { groups: ["leads"] }]);
  expect(seen).toEqual([]);
  waiting[1]?.yes();
  expect(String(await answer)).toBe(RESULT);
});

test("the record shows each layer once, with the time of the wait", async () => {
  const trail = newTrail();
  const { call, waiting, clock } = await testPipeline([perHour(5), approve]);
  const answer = call({ more: { trail } });
  clock.advance(60_000);
  waiting[0]?.yes();
  await answer;
  expect(trail.layers).toMatchObject([
    { use: "rate-limit", outcome: "passed" },
    { use: "policy", outcome: "passed", ms: 60_000 },
  ]);
  expect(trail.by).toBeUndefined();
});

const asking = (ask: () => Promise<void>): PlacedLayer => ({
  use: "asking",
  at: "a test",
  call: (next) => (call) => withPermission(call, { permission: "yes", ask }, next),
});

test("a layer that answers errors itself does not end a call that was permitted", async () => {
  const friendly: PlacedLayer = {
    use: "friendly",
    at: "a test",
    call: (next) => (call) => next(call).catch(() => toRaw("sorry")),
  };
  const run = pipelineOf([friendly, asking(async () => {})], async () => raw(RESULT), new ManualClock());
  const call = callOf();
  const answer = runPermitted(call, (permissions) => run({ ...call, permissions }));
  expect(String(await answer)).toBe(RESULT);
});

test("a call that was cancelled while it waited is not made", async () => {
  let made = false;
  const call = callOf();
  const ask = async (): Promise<void> => (call.signal as CallSignal).abort(new Error("gave up"));
  const handler = async () => {
    made = true;
    return raw(RESULT);
  };
  const run = pipelineOf([asking(ask)], handler, new ManualClock());
  const answer = runPermitted(call, (permissions) => run({ ...call, permissions }));
  await expect(answer).rejects.toThrow("gave up");
  expect(made).toBe(false);
});

test("a record keeps no more of a call than the layers of its last run allow", async () => {
  const trail = newTrail();
  const full: PlacedLayer = {
    ...registry.compile({ use: "audit", arguments: "full", results: "full" }, { clock: new ManualClock() }),
    use: "audit",
    at: "a test",
  };
  const pipelines = [[full, asking(async () => {})], [asking(async () => {})]];
  const call = callOf({ more: { trail } });
  const run = (layers: readonly PlacedLayer[] = []) =>
    pipelineOf(layers, async () => raw(RESULT), new ManualClock());
  const answer = runPermitted(call, (permissions) => run(pipelines.shift())({ ...call, permissions }));
  expect(String(await answer)).toBe(RESULT);
  expect(trail.keep).toBeUndefined();
});

test("a call that a layer changes in each run is refused after some permissions, and not asked about for ever", async () => {
  let runs = 0;
  const asked: string[] = [];
  const changing: PlacedLayer = {
    use: "changing",
    at: "a test",
    call: (next) => (call) => {
      runs += 1;
      const permission = `run ${runs}`;
      return withPermission(call, { permission, ask: async () => void asked.push(permission) }, next);
    },
  };
  const run = pipelineOf([changing], async () => raw(RESULT), new ManualClock());
  const call = callOf();
  const answer = runPermitted(call, (permissions) => {
    if (runs > 50) throw new Error("asked for ever");
    return run({ ...call, permissions });
  });
  await expect(answer).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("another call each time"),
  });
  expect(asked.length).toBe(20);
});

test("a call without a place for permissions is refused", async () => {
  const run = pipelineOf([asking(async () => {})], async () => raw(RESULT), new ManualClock());
  await expect(run(callOf())).rejects.toMatchObject({ code: "forbidden" });
});
