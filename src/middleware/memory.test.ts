/** The short version of the row `memory` of `npm run bench:gateway`. */
import { expect, test } from "vitest";
import { heapAfterGc } from "../../test/support/heap-after-gc.ts";
import { ManualClock } from "../kernel/clock.ts";
import { callOf, RESULT, raw, registry } from "./layer.fixture.ts";
import { pipelineOf } from "./pipeline.ts";

const ENTRIES = [
  { use: "filter", allow: ["one:*"] },
  { use: "policy", rules: [{ effect: "allow", args: { text: { glob: "*" } } }] },
  { use: "rate-limit", requests: 1_000_000, per: "1s" },
  { use: "concurrency", max: 4, queue: 1_000 },
  { use: "redact", detect: ["secrets", "email"] },
  { use: "timeout", deadlineMs: "60s" },
  { use: "flow", deny: [{ from: "one:*", to: "two:*" }] },
  { use: "audit" },
  { use: "hedge", afterPercentile: 95 },
  { use: "cache", ttlMs: "1s" },
];

test("calls of one caller through all layers leave no memory behind", async () => {
  const clock = new ManualClock();
  const layers = ENTRIES.map((entry) => ({
    ...registry.compile(entry, { clock }),
    use: entry.use,
    at: "a test",
  }));
  const result = raw(RESULT);
  const server = () => Promise.resolve(result);
  const handle = pipelineOf(layers, (call) => call.atServer?.(server)(call) ?? server(), clock);
  const made = callOf({ args: { text: "a" }, annotations: { readOnlyHint: true } });
  const calls = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 8) {
      await Promise.all(Array.from({ length: 8 }, () => handle(made)));
      clock.advance(n % 64 === 0 ? 2_000 : 1);
    }
  };
  await calls(2_000);
  const before = heapAfterGc();
  await calls(12_000);
  expect(heapAfterGc() / before).toBeLessThan(1.05);
});
