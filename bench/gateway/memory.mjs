// The heap after many calls of one caller with all layers on, compared with the heap after few. A layer that
// keeps something of each call shows here.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pipelines } from "./pipeline.mjs";
import { row } from "./row.mjs";

/**
 * Every layer has something to do, except `ask`: nobody is there to answer. Calls pass the cache, which comes
 * last, at once or not at all.
 */
export const BUSY = [
  { use: "filter", allow: ["s0:*"] },
  { use: "policy", rules: [{ effect: "allow", args: { message: { glob: "sixteen*" } } }] },
  { use: "rate-limit", requests: 1_000_000_000, per: "1s" },
  { use: "concurrency", max: 8, queue: 1_000 },
  { use: "redact", detect: ["secrets", "email", "phone", "card", "iban"] },
  { use: "timeout", deadlineMs: "60s" },
  { use: "validate" },
  { use: "ask", tools: ["*:other"] },
  { use: "flow", deny: [{ from: "s0:*", to: "*:more" }] },
  { use: "audit", arguments: "redacted", results: "redacted" },
  { use: "hedge", afterPercentile: 95 },
  { use: "cache", tools: ["s0:*"], ttlMs: 1 },
];
const LIMIT = 1.1;

export async function measure({ of }) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const heap = () => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const facts = { annotations: { readOnlyHint: true } };
  const one = (await pipelines(BUSY, { facts, repeat: "safe" }))(BUSY);
  const calls = async (count) => {
    for (let n = 0; n < count; n += 32) await Promise.all(Array.from({ length: 32 }, one));
  };
  const [few, many] = [of(100_000, 1_000), of(1_000_000, 3_000)];
  await calls(few);
  const before = heap();
  await calls(many - few);
  const after = heap();
  const text = (number) => number.toLocaleString("en");
  const note = `${(before / 1e6).toFixed(1)} and ${(after / 1e6).toFixed(1)} MB`;
  return [
    row(`heap after ${text(many)} calls with all layers on ÷ after ${text(few)}`, after / before, {
      limit: LIMIT,
      note,
    }),
  ];
}
