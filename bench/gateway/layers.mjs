// CPU per call of each layer that has nothing to do, in process, compared with no layer. The handler answers at once.
import { median } from "../overhead/median.mjs";
import { shuffled } from "../overhead/shuffled.mjs";
import { row } from "./row.mjs";
import { cpu, load } from "./source.mjs";

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
  const code = await load(
    "middleware/built-in.ts",
    "middleware/registry.ts",
    "middleware/pipeline.ts",
    "middleware/request-layers.ts",
    "gateway/schema-check.ts",
    "system-clock.ts",
    "kernel/call.ts",
    "kernel/raw.ts",
    "kernel/signal.ts",
  );
  const { systemClock: clock, toRaw } = code;
  const registry = new code.LayerRegistry(code.BUILT_IN, await code.loadValidator());
  await registry.prepare(IDLE);
  const call = callOf(code);
  const result = toRaw({ content: [{ type: "text", text: "sixteen bytes ok" }] });
  const handler = () => Promise.resolve(result);
  /** A function that sends one client request through the request layers and the call layers. */
  const requestThrough = (entries) => {
    const layers = entries.map((entry) => ({
      ...registry.compile(entry, { clock }),
      use: entry.use,
      at: "bench",
    }));
    const requests = new code.RequestLayers(layers);
    const handle = code.pipelineOf(layers, handler, clock);
    return () => {
      const trail = code.newTrail();
      const { method, params, origin, signal, uplink } = call;
      return requests.handle({ method, params, origin, signal, uplink, trail }, () =>
        handle({ ...call, trail }),
      );
    };
  };
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

/** A call with all members that surfaces set. */
function callOf({ toRaw, CallSignal }) {
  const definition = toRaw({
    name: "echo",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  });
  const uplink = { notify() {}, request: () => Promise.reject(new Error("nobody is there")) };
  const principal = {
    id: "key 1",
    kind: "key",
    name: "a key",
    roles: [],
    groups: [],
    key: { id: "1", name: "a key" },
  };
  return {
    server: "s0",
    method: "tools/call",
    tool: "echo",
    params: toRaw({ name: "echo", arguments: { message: "sixteen bytes ok" } }),
    origin: { endpoint: "e", principal, session: "one", capabilities: toRaw({}), uplink },
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: "unknown",
    uplink,
    hold: undefined,
    trail: undefined,
    via: undefined,
    task: undefined,
    facts: { server: "s0", name: "echo", labels: [], annotations: {}, definition },
    recorder: undefined,
    aside: undefined,
    atServer: undefined,
    beside: undefined,
  };
}
