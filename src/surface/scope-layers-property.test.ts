/**
 * Whatever changes while calls wait: no two calls wait for each other, no slot is lost, and no limit is
 * exceeded.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallSignal } from "../kernel/signal.ts";
import { callOf } from "../middleware/layer.fixture.ts";
import type { LayerEntry } from "../middleware/layer.ts";
import {
  allow,
  byEndpoint,
  cache,
  changingLayers,
  deny,
  type Entries,
  one,
  own,
} from "./scope-layers.fixture.ts";

const approve: LayerEntry = { use: "policy", default: "allow", rules: [{ effect: "approve" }] };
const two: LayerEntry = { ...byEndpoint, max: 2 };
const timeout: LayerEntry = { use: "timeout", deadlineMs: "1h" };
const slow = own({
  call: (next) => async (call) => {
    await new Promise((resolve) => setImmediate(resolve));
    return await next(call);
  },
});
/** All of them keep the layer `one`, so that no more than one call may be at the server. */
const PIPELINES: readonly Entries[] = [
  [one],
  [allow, two, one],
  [one, two],
  [two, slow, one],
  [deny, one],
  [timeout, cache, one],
  [two, cache, slow, one],
  [approve, two, one],
  [one, approve],
];

const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("call" as const), n: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("change" as const), n: fc.nat(PIPELINES.length - 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("answer", "fail", "approve", "cancel", "pause"),
      n: fc.nat(9),
    }),
  },
);

test("calls never block each other, lose a slot or exceed a limit", async () => {
  const scenario = fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
    const { call, change, seen, waiting } = await changingLayers([one]);
    const open = new Set<Promise<string>>();
    const signals: CallSignal[] = [];
    const begin = (n: number): void => {
      const made = callOf({ args: { n }, annotations: { readOnlyHint: true } });
      signals.push(made.signal as CallSignal);
      const answer = call(made);
      open.add(answer);
      void answer.then(() => open.delete(answer));
    };
    const running = () => seen.filter((one) => one.running);
    const pause = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      expect(running().length).toBeLessThanOrEqual(1);
    };
    /** Answers everything until no call is left. */
    const drain = async (): Promise<void> => {
      for (let idle = 0; open.size > 0; idle += 1) {
        expect(idle, "calls wait for each other").toBeLessThan(5);
        if (running().length > 0 || waiting.length > 0) idle = 0;
        for (const yes of waiting.splice(0)) yes();
        for (const one of running()) one.answer();
        await pause();
      }
    };
    for (const { do: what, n } of acts) {
      if (what === "call") begin(n);
      else if (what === "change") await change(PIPELINES[n] as Entries);
      else if (what === "answer") running()[0]?.answer();
      else if (what === "fail") running()[0]?.fail();
      else if (what === "approve") waiting.shift()?.();
      else if (what === "cancel") signals[signals.length - 1 - n]?.abort(new Error("gave up"));
      else await pause();
    }
    await drain();
    for (const n of [0, 1, 2]) begin(n);
    await drain();
  });
  await fc.assert(scenario, { numRuns: 200 });
});
