// CPU per call of each layer that has nothing to do, in process, compared with no layer. The handler answers
// at once.
import { median } from "../overhead/median.mjs";
import { shuffled } from "../overhead/shuffled.mjs";
import { pipelines } from "./pipeline.mjs";
import { row } from "./row.mjs";
import { cpu } from "./source.mjs";

const IDLE = [
  { use: "filter", deny: ["*:other"] },
  {
    use: "policy",
    default: "allow",
    rules: [
      { effect: "deny", tools: ["*:other"] },
      { effect: "deny", who: { groups: ["guests"] } },
    ],
  },
  { use: "rate-limit", requests: 1_000_000_000, per: "1s" },
  { use: "concurrency", max: 1_000 },
  { use: "redact", detect: ["secrets"], in: ["arguments"] },
  { use: "cache", tools: ["*:other"], ttlMs: 1_000 },
  { use: "timeout", deadlineMs: "60s" },
  { use: "validate", input: true, output: false },
  { use: "ask", tools: ["*:other"] },
  { use: "hedge", afterMs: 1_000 },
  { use: "flow", deny: [{ from: "*:other", to: "*:more" }] },
  { use: "audit" },
];
const LIMIT = 3;

export async function measure({ of }) {
  const requestThrough = await pipelines(IDLE);
  const candidates = [
    ["none", requestThrough([])],
    ...IDLE.map((entry) => [entry.use, requestThrough([entry])]),
  ];
  const figures = await inTurn(candidates, of(8_000, 100), of(15, 1));
  const none = figures.get("none");
  return IDLE.map(({ use }) => {
    const more = median(figures.get(use).map((figure, round) => figure - none[round]));
    return row(`layer ${use} with nothing to do, more per call`, more, { limit: LIMIT, unit: " µs" });
  });
}

/** Returns µs per call by name, one figure per round. */
async function inTurn(candidates, calls, rounds) {
  const figures = new Map(candidates.map(([name]) => [name, []]));
  const block = async (one) => {
    for (let n = 0; n < calls; n += 32) await Promise.all(Array.from({ length: 32 }, one));
  };
  for (let warm = 0; warm < 3; warm++) for (const [, one] of candidates) await block(one);
  for (let round = 0; round < rounds; round++)
    for (const [name, one] of shuffled(candidates)) {
      const before = cpu();
      await block(one);
      figures.get(name).push((cpu() - before) / (Math.ceil(calls / 32) * 32));
    }
  return figures;
}
