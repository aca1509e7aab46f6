/** For tests of layers that change while calls wait in them. */
import { expect } from "vitest";
import type { Call } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { Approvals } from "../middleware/approvals.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import { callOf, RESULT, raw, registry, type TestCall } from "../middleware/layer.fixture.ts";
import type { Layer, LayerEntry, PlacedLayer } from "../middleware/layer.ts";
import { runPermitted } from "../middleware/permission.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { ScopeLayers } from "./scope-layers.ts";

export type Entries = readonly (LayerEntry | PlacedLayer)[];

export const one: LayerEntry = { use: "concurrency", max: 1, queue: 10 };
export const byEndpoint: LayerEntry = { ...one, by: "endpoint" };
export const allow: LayerEntry = { use: "policy", default: "allow", rules: [] };
export const deny: LayerEntry = {
  use: "policy",
  default: "allow",
  rules: [{ effect: "deny", tools: ["*:echo"] }],
};
export const perHour: LayerEntry = { use: "rate-limit", requests: 5, per: "1h" };
export const cache: LayerEntry = { use: "cache", ttlMs: 60_000 };
export const reading: TestCall = { annotations: { readOnlyHint: true }, args: { n: 2 } };
export const own = (layer: Layer): PlacedLayer => ({ ...layer, use: "own", at: "a test" });

/** A call that reached the server. */
interface SeenCall {
  readonly n: unknown;
  running: boolean;
  answer(): void;
  fail(error?: Error): void;
}

/** Layers that can change, in front of a server that answers when the test says so. */
export async function changingLayers(first: Entries) {
  const clock = new ManualClock();
  const waiting: (() => void)[] = [];
  const approvals: Approvals = {
    wait: ({ signal }) =>
      new Promise((yes, no) => {
        waiting.push(yes);
        signal.addEventListener("abort", () => no(signal.reason as Error));
      }),
  };
  const compiled = new CompiledLayers(registry, { clock, approvals });
  let owner = { entries: first };
  const seen: SeenCall[] = [];
  const handler = (call: Call): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const { n } = JSON.parse(String(call.params)).arguments;
      const one: SeenCall = {
        n,
        running: true,
        answer() {
          one.running = false;
          resolve(raw(RESULT));
        },
        fail(error: Error = new RpcError(raw("{}"))) {
          one.running = false;
          reject(error);
        },
      };
      seen.push(one);
      call.signal.addEventListener("abort", () => one.fail(call.signal.reason as Error));
    });
  const layersOf = ({ entries }: { entries: Entries }): readonly PlacedLayer[] => {
    const plain = entries.filter((entry): entry is LayerEntry => !("at" in entry));
    const made = [...compiled.of("owner", "a test", plain)];
    return entries.map((entry) => ("at" in entry ? (entry as PlacedLayer) : (made.shift() as PlacedLayer)));
  };
  const layers = new ScopeLayers({
    source: {
      version: () => owner,
      servers: () => ["one"],
      owners: () => [owner],
      layers: ([current]) => (current ? layersOf(current) : []),
      facts: () => undefined,
    },
    handler,
    clock,
  });
  await registry.prepare(first.filter((entry): entry is LayerEntry => !("at" in entry)));
  const call = (wanted: TestCall | Call = {}): Promise<string> => {
    const made = "origin" in wanted ? wanted : callOf(wanted);
    const run = runPermitted(made, (permissions) =>
      layers.handle({ ...made, permissions }, made.facts as ToolFacts),
    );
    return run.then(String, (error: { code?: string; message: string }) => error.code ?? error.message);
  };
  return {
    clock,
    waiting,
    seen,
    call,
    /** Calls with the numbers 1 to `count`, in this order. */
    calls: (count: number, more: TestCall = {}) =>
      Array.from({ length: count }, (_, at) => call({ ...more, args: { n: at + 1 } })),
    reached: () => seen.map(({ n }) => n),
    async change(entries: Entries) {
      await registry.prepare(entries.filter((entry): entry is LayerEntry => !("at" in entry)));
      owner = { entries };
    },
    /** Answers calls in the order in which they reach the server, until this many have. */
    async answerAll(count: number) {
      for (let at = 0; at < count; at++) {
        await expect.poll(() => seen.length).toBeGreaterThan(at);
        seen[at]?.answer();
      }
    },
  };
}
