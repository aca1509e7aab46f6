// Client requests through layers, in this process. The handler answers at once.
import { load } from "./source.mjs";

/**
 * Loads what these entries need. Returns a function that makes, for some of them, the function that sends one
 * request.
 */
export async function pipelines(all, { facts, repeat = "unknown" } = {}) {
  const code = await load(
    "middleware/built-in.ts",
    "middleware/registry.ts",
    "middleware/pipeline.ts",
    "middleware/request-layers.ts",
    "gateway/schema-check.ts",
    "engine/system-clock.ts",
    "kernel/call.ts",
    "kernel/raw.ts",
    "kernel/signal.ts",
  );
  const { systemClock: clock, toRaw } = code;
  const registry = new code.LayerRegistry(code.BUILT_IN, await code.loadValidator());
  await registry.prepare(all);
  const call = { ...callOf(code, facts), repeat };
  const result = toRaw({ content: [{ type: "text", text: "sixteen bytes ok" }] });
  const answer = () => Promise.resolve(result);
  const handler = (made) => made.atServer?.(answer)(made) ?? answer();
  return (entries) => {
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
}

/** A call with all members that surfaces set. */
function callOf({ toRaw, CallSignal }, facts) {
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
    facts: { server: "s0", name: "echo", labels: [], annotations: {}, definition, ...facts },
    recorder: undefined,
    aside: undefined,
    atServer: undefined,
    beside: undefined,
  };
}
