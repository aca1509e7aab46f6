/** Runs the layer contract on every built-in layer and on the example. */
import { expect, test } from "vitest";
import { BUILT_IN } from "./built-in.ts";
import { layerContract } from "./layer.contract.ts";
import { ask } from "./layers/ask.ts";
import { audit } from "./layers/audit.ts";
import { cache } from "./layers/cache.ts";
import { concurrency } from "./layers/concurrency.ts";
import { filter } from "./layers/filter.ts";
import { flow } from "./layers/flow.ts";
import { hedge } from "./layers/hedge.ts";
import { policy } from "./layers/policy/policy.ts";
import { rateLimit } from "./layers/rate-limit.ts";
import { redact } from "./layers/redact/redact.ts";
import { timeout } from "./layers/timeout.ts";
import { validate } from "./layers/validate.ts";

const DELETE = { tool: "two:delete", args: { id: 1 } };

layerContract("filter", {
  builtIn: true,
  kind: filter,
  options: { deny: ["*:delete"] },
  wrong: [{ deny: "x" }, { readOnly: 1 }],
  refuses: DELETE,
});
layerContract("policy", {
  builtIn: true,
  kind: policy,
  options: { rules: [{ effect: "allow", tools: ["one:*"] }] },
  wrong: [{}, { rules: [{}] }, { rules: [{ effect: "allow", when: "args.x.matches('a')" }] }],
  refuses: DELETE,
});
layerContract("policy with arguments", {
  builtIn: true,
  kind: policy,
  options: { default: "allow", rules: [{ effect: "deny", tools: ["two:*"], args: { id: { max: 5 } } }] },
  refuses: DELETE,
});
layerContract("rate-limit", {
  builtIn: true,
  kind: rateLimit,
  options: { requests: 1_000, per: "1s" },
  wrong: [{}, { requests: 0, per: 1 }],
});
layerContract("concurrency", {
  builtIn: true,
  kind: concurrency,
  options: { max: 100 },
  wrong: [{}, { max: 0 }],
});
layerContract("redact", {
  builtIn: true,
  kind: redact,
  options: { detect: ["email"], action: "block" },
  wrong: [
    {},
    { detect: ["nothing"] },
    { detect: [{ name: "x", pattern: "(" }] },
    { detect: Array.from({ length: 201 }, () => "email") },
  ],
  refuses: { args: { to: "ada@example.org" } },
});
layerContract("cache", {
  builtIn: true,
  kind: cache,
  options: { tools: ["other:*"], ttlMs: "1m" },
  wrong: [{}, { ttlMs: 0 }],
});
layerContract("timeout", {
  builtIn: true,
  kind: timeout,
  options: { timeoutMs: 1_000, deadlineMs: 5_000 },
  wrong: [{}],
});
layerContract("validate", { builtIn: true, kind: validate, options: {}, wrong: [{ input: "yes" }] });
layerContract("ask", {
  builtIn: true,
  kind: ask,
  options: { tools: ["*:delete"] },
  wrong: [{}],
  refuses: DELETE,
});
layerContract("hedge", { builtIn: true, kind: hedge, options: { afterMs: 1_000 }, wrong: [{}] });
layerContract("flow", {
  builtIn: true,
  kind: flow,
  options: { deny: [{ from: "two:*", to: "three:*" }] },
  wrong: [{}],
});
layerContract("audit", { builtIn: true, kind: audit, options: {}, wrong: [{ arguments: "some" }] });
layerContract("the example", {
  kind: (await import("../../examples/middleware/change-ticket.mjs" as string)).default,
  options: { prefix: "OPS-", frozen: ["production"] },
  wrong: [{}, { prefix: "" }],
  refuses: DELETE,
});

test("every option of a layer says what it means, for the docs and the form of the console", () => {
  const silent = [...BUILT_IN].flatMap(([use, { schema }]) =>
    Object.entries(schema.properties)
      .filter(([, option]) => !Object.hasOwn(option as object, "description"))
      .map(([name]) => `${use}.${name}`),
  );
  expect(silent).toEqual([]);
});
