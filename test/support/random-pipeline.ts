/**
 * Random lists of layers for the four places in a config, with a simple second implementation of their effect
 * on a few tools.
 */
import fc from "fast-check";
import type { ToolAnnotations } from "../../src/kernel/tool-facts.ts";
import type { LayerEntry } from "../../src/middleware/layer.ts";

export interface JudgedTool {
  readonly name: string;
  readonly annotations: ToolAnnotations;
}

/** Tools of the fixture. Their annotations do not match what they do. */
export const TOOLS: readonly JudgedTool[] = [
  { name: "args", annotations: { readOnlyHint: true } },
  { name: "echo", annotations: {} },
  { name: "pid", annotations: { destructiveHint: true } },
];
export const SERVER = "fix";
/** The name of the API key of the calls. */
export const KEY = "a key";

/** `refuses`: the tool is listed, but its calls are refused. */
export type Verdict = "passes" | "hides" | "refuses";

export interface ModelledLayer {
  readonly entry: LayerEntry;
  readonly verdict: (tool: JudgedTool) => Verdict;
}

const TIERS = ["readOnly", "write", "destructive"] as const;
type Tier = (typeof TIERS)[number];
const tierOf = ({ annotations: { readOnlyHint, destructiveHint } }: JudgedTool): Tier =>
  readOnlyHint ? "readOnly" : destructiveHint ? "destructive" : "write";
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const globs = fc.subarray(
  [...TOOLS.map(({ name }) => `${SERVER}:${name}`), `${SERVER}:*`, "*:e?ho", "other:*"],
  { maxLength: 3 },
);
const matches = (glob: string, { name }: JudgedTool): boolean =>
  glob === `${SERVER}:*` || glob === `${SERVER}:${name}` || (glob === "*:e?ho" && name === "echo");
const some = (list: readonly string[], tool: JudgedTool): boolean => list.some((glob) => matches(glob, tool));
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;

const filter = fc
  .record({
    allow: maybe(globs),
    deny: maybe(globs),
    readOnly: maybe(fc.boolean()),
    destructive: maybe(fc.boolean()),
  })
  .map(
    (options): ModelledLayer => ({
      entry: { use: "filter", ...defined(options) },
      verdict(tool) {
        const { allow, deny = [], readOnly, destructive } = options;
        const hidden =
          some(deny, tool) ||
          (allow !== undefined && !some(allow, tool)) ||
          (readOnly === true && tierOf(tool) !== "readOnly") ||
          (destructive === false && tierOf(tool) === "destructive");
        return hidden ? "hides" : "passes";
      },
    }),
  );

interface Who {
  readonly keys?: readonly string[];
  readonly roles?: readonly string[];
}

/** The condition `args.nowhere…` fails for every call, because the value does not exist. */
const rule = fc.record({
  effect: fc.constantFrom("allow" as const, "deny" as const),
  tools: maybe(globs),
  tiers: maybe(fc.subarray([...TIERS])),
  who: maybe(fc.constantFrom<Who>({ keys: [KEY] }, { keys: ["another"] }, { roles: ["admin"] })),
  when: fc.option(fc.constantFrom("true", "false", "args.nowhere.to.be.found == 1"), {
    nil: undefined,
    freq: 4,
  }),
});
type Rule = typeof rule extends fc.Arbitrary<infer T> ? T : never;

const policy = fc
  .record({
    rules: fc.array(rule, { maxLength: 3 }),
    default: maybe(fc.constantFrom("allow" as const, "deny" as const)),
  })
  .map(
    (options): ModelledLayer => ({
      entry: { use: "policy", ...defined({ ...options, rules: options.rules.map(defined) }) },
      verdict: (tool) => policyVerdict(options.rules, options.default ?? "deny", tool),
    }),
  );

function policyVerdict(rules: readonly Rule[], fallback: "allow" | "deny", tool: JudgedTool): Verdict {
  const matching = rules.filter(
    ({ tools, tiers, who }) =>
      (!tools || some(tools, tool)) &&
      (!tiers || tiers.includes(tierOf(tool))) &&
      (!who || (who.keys?.includes(KEY) ?? false)),
  );
  const certain = matching.filter(({ when }) => when === undefined);
  const denied = certain.some(({ effect }) => effect === "deny");
  const couldAllow = fallback === "allow" || matching.some(({ effect }) => effect === "allow");
  if (denied || !couldAllow) return "hides";
  const fails = matching.some(({ when }) => when?.includes("nowhere"));
  const fits = matching.filter(({ when }) => when === undefined || when === "true");
  const refused =
    fails ||
    fits.some(({ effect }) => effect === "deny") ||
    !(fallback === "allow" || fits.some(({ effect }) => effect === "allow"));
  return refused ? "refuses" : "passes";
}

/** Layers without an effect on these calls. */
const idle = fc
  .constantFrom<LayerEntry>(
    { use: "rate-limit", requests: 1_000_000, per: "1s", by: ["key", "tool"] },
    { use: "concurrency", max: 10_000 },
    { use: "timeout", timeoutMs: "1h" },
    { use: "redact", detect: ["secrets", "email", "card", "iban", { name: "own", pattern: "no+where{40}" }] },
    { use: "validate" },
    { use: "ask", tools: ["other:*"] },
    { use: "hedge", afterMs: "1h" },
    { use: "flow", deny: [{ from: "other:*", to: "*" }] },
    { use: "audit", arguments: "none" },
  )
  .map((entry): ModelledLayer => ({ entry, verdict: () => "passes" }));

export const modelledLayer: fc.Arbitrary<ModelledLayer> = fc.oneof(
  { weight: 2, arbitrary: filter },
  { weight: 2, arbitrary: policy },
  { weight: 4, arbitrary: idle },
);

/** The layers of one place. */
export const modelledLayers = fc.array(modelledLayer, { maxLength: 3 });

export function verdictOf(layers: readonly ModelledLayer[], tool: JudgedTool): Verdict {
  const verdicts = layers.map(({ verdict }) => verdict(tool));
  if (verdicts.includes("hides")) return "hides";
  return verdicts.includes("refuses") ? "refuses" : "passes";
}
