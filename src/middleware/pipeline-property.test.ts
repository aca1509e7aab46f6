/** Properties of every pipeline, for random layers in random order. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ModelledLayer,
  modelledLayer,
  SERVER,
  TOOLS,
  verdictOf,
} from "../../test/support/random-pipeline.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import type { Call, Middleware } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import { BUILT_IN } from "./built-in.ts";
import { callOf, newTrail, raw } from "./layer.fixture.ts";
import type { LayerEntry, LayerKind, PlacedLayer } from "./layer.ts";
import { hiddenBy, listKey } from "./list-rules.ts";
import { pipelineOf } from "./pipeline.ts";
import { LayerRegistry } from "./registry.ts";

const principal: Principal = { id: "k1", kind: "key", name: "a key", roles: [], groups: [] };
const definition = { name: "x", inputSchema: { type: "object" } };
/** JSON that a parser and serializer would not reproduce. */
const WRITTEN = '{ "n" : 12345678901234567890, "z":-0, "e":1E2 , "t":"\\u00e9\\/ ", "deep":[ [ { } ] ] }';
const RESULT = '{ "content" : [ ], "structuredContent":{"long":98765432109876543210, "x":1.0} }';

/** The ways in which a layer can fail. */
const FAILURES: Readonly<Record<string, Middleware>> = {
  "throws before": () => () => {
    throw new Error("boom: a secret of the layer");
  },
  "rejects before": () => () => Promise.reject(new TypeError("boom")),
  "rejects after": (next) => (call) =>
    next(call).then(() => {
      throw new Error("boom");
    }),
  "throws no error": () => () => {
    throw "boom";
  },
};
const broken: LayerKind = {
  schema: { properties: { way: { enum: Object.keys(FAILURES) } } },
  compile: ({ way }) => ({ call: FAILURES[way as string] as Middleware }),
};
const registry = new LayerRegistry(new Map([...BUILT_IN, ["broken", broken]]), await loadValidator());
// Expressions and patterns are loaded once.
await registry.prepare([
  { use: "policy", rules: [{ effect: "deny", when: "true" }] },
  { use: "redact", detect: [{ name: "x", pattern: "x" }] },
]);

function placed(entries: readonly LayerEntry[]): readonly PlacedLayer[] {
  const context = { clock: new ManualClock() };
  return entries.map((entry) => ({ ...registry.compile(entry, context), use: entry.use, at: "a test" }));
}

const callFor = (tool: (typeof TOOLS)[number], more: Partial<Call> = {}): Call =>
  callOf({
    tool: `${SERVER}:${tool.name}`,
    annotations: tool.annotations,
    written: WRITTEN,
    definition,
    principal,
    more,
  });

interface Outcome {
  readonly outcome: string;
  readonly seen: readonly Call[];
  readonly result: Raw | undefined;
  readonly uses: readonly string[];
}

async function run(entries: readonly LayerEntry[], tool: (typeof TOOLS)[number]): Promise<Outcome> {
  const seen: Call[] = [];
  const trail = newTrail();
  const handler = pipelineOf(
    placed(entries),
    (call) => {
      seen.push(call);
      return Promise.resolve(raw(RESULT));
    },
    new ManualClock(),
  );
  let result: Raw | undefined;
  let outcome = "passes";
  try {
    result = await handler(callFor(tool, { trail }));
  } catch (error) {
    outcome = MetaMcpError.is(error) ? error.code : `not ours: ${String(error)}`;
    expect(String(error)).not.toMatch(/boom/);
  }
  return { outcome, seen, result, uses: trail.layers.map(({ use }) => use) };
}

const layers = fc.array(modelledLayer, { maxLength: 8 });
const tools = fc.constantFrom(...TOOLS);
const entriesOf = (list: readonly ModelledLayer[]): LayerEntry[] => list.map(({ entry }) => entry);

test("a call passes only if every layer passes it, and a tool that one layer hides does not exist, in any order", async () => {
  const codes = { passes: "passes", hides: "tool_not_found", refuses: "forbidden" };
  await fc.assert(
    fc.asyncProperty(layers, tools, async (list, tool) => {
      const { outcome, seen } = await run(entriesOf(list), tool);
      const first = list.map(({ verdict }) => verdict(tool)).find((verdict) => verdict !== "passes");
      expect(outcome).toBe(codes[first ?? "passes"]);
      expect(seen).toHaveLength(outcome === "passes" ? 1 : 0);
      const { facts } = callFor(tool);
      const hidden = facts && hiddenBy(placed(entriesOf(list)), facts, principal);
      expect(hidden !== undefined).toBe(verdictOf(list, tool) === "hides");
    }),
    { numRuns: 300 },
  );
});

test("layers act in their order, up to the one that refuses", async () => {
  await fc.assert(
    fc.asyncProperty(layers, tools, async (list, tool) => {
      const { uses } = await run(entriesOf(list), tool);
      const refusing = list.findIndex(({ verdict }) => verdict(tool) !== "passes");
      const acting = refusing < 0 ? list : list.slice(0, refusing + 1);
      expect(uses).toEqual(entriesOf(acting).map(({ use }) => use));
    }),
    { numRuns: 200 },
  );
});

test("a layer that fails refuses the call, at any place and in any way, without details of the failure", async () => {
  const way = fc.constantFrom(...Object.keys(FAILURES));
  await fc.assert(
    fc.asyncProperty(layers, fc.nat(), way, tools, async (list, at, how, tool) => {
      const entries = entriesOf(list);
      const place = at % (list.length + 1);
      entries.splice(place, 0, { use: "broken", way: how });
      const { outcome, seen, result } = await run(entries, tool);
      const before = list.slice(0, place).some(({ verdict }) => verdict(tool) !== "passes");
      const inside = list.slice(place).some(({ verdict }) => verdict(tool) !== "passes");
      if (!before && !(how === "rejects after" && inside)) expect(outcome).toBe("internal");
      expect(outcome).not.toBe("passes");
      expect(result).toBeUndefined();
      if (how !== "rejects after") expect(seen).toHaveLength(0);
    }),
    { numRuns: 300 },
  );
});

test("a list rule that throws hides the tool", () => {
  const breaking: PlacedLayer = {
    use: "broken",
    at: "a test",
    list: {
      hides() {
        throw new Error("boom");
      },
    },
  };
  const { facts } = callFor(TOOLS[0] as (typeof TOOLS)[number]);
  expect(facts && hiddenBy([breaking], facts, principal)).toMatchObject({ use: "broken" });
  expect(listKey([breaking], principal)).toBeDefined();
});

test("arguments and results that no layer changes keep their bytes", async () => {
  await fc.assert(
    fc.asyncProperty(layers, tools, async (list, tool) => {
      const { seen, result } = await run(entriesOf(list), tool);
      if (!result) return;
      expect(result.toString()).toBe(RESULT);
      expect(seen[0]?.params.toString()).toBe(callFor(tool).params.toString());
    }),
    { numRuns: 300 },
  );
});
