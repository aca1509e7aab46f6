import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../kernel/clock.ts";
import { MetaMcpError } from "../../../kernel/errors.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { callOf, newTrail, RESULT, raw, registry, testPipeline } from "../../layer.fixture.ts";
import { pipelineOf } from "../../pipeline.ts";

const person = (more: Partial<Principal> = {}): Partial<Principal> => ({
  id: "u1",
  kind: "account",
  name: "ada@example.org",
  roles: ["member"],
  groups: ["dev"],
  ...more,
});

async function judged(rules: readonly object[], wanted: object, more: object = {}): Promise<string> {
  const { outcome } = await testPipeline([{ use: "policy", rules, ...more }]);
  const text = await outcome({ principal: person(), ...wanted });
  return text.startsWith("{") ? "passed" : text;
}

describe("a policy", () => {
  test("denies a tool that no rule allows as tool_not_found", async () => {
    expect(await judged([], {})).toBe("tool_not_found");
    expect(await judged([], {}, { default: "allow" })).toBe("passed");
    expect(await judged([{ effect: "allow", tools: ["two:*"] }], {})).toBe("tool_not_found");
    expect(await judged([{ effect: "allow", tools: ["one:*"] }], {})).toBe("passed");
  });

  test("lets deny win in any order of rules", async () => {
    const rules = [{ effect: "allow" }, { effect: "deny", tools: ["one:echo"] }];
    expect(await judged(rules, {})).toBe("tool_not_found");
    expect(await judged(rules.toReversed(), {})).toBe("tool_not_found");
    expect(await judged(rules, { tool: "one:add" })).toBe("passed");
  });

  test.each([
    [{ roles: ["member"] }, "passed"],
    [{ roles: ["admin"] }, "tool_not_found"],
    [{ groups: ["ops", "dev"] }, "passed"],
    [{ users: ["ada@example.org"] }, "passed"],
    [{ users: ["u1"] }, "passed"],
    [{ users: ["eve@example.org"] }, "tool_not_found"],
    [{ keys: ["k1"] }, "tool_not_found"],
    [{ groups: ["dev"], roles: ["admin"] }, "tool_not_found"],
    [{ groups: [] }, "tool_not_found"],
  ])("matches principals by %j", async (who, expected) => {
    expect(await judged([{ effect: "allow", who }], {})).toBe(expected);
  });

  test("a name that principals choose themselves can restrict them, but allows nothing", async () => {
    const byKey = { who: { keys: ["ci"] } };
    const named = { principal: person({ key: { id: "k", name: "ci" } }) };
    expect(await judged([{ effect: "allow", ...byKey }], named)).toBe("tool_not_found");
    expect(await judged([{ effect: "ask", ...byKey }], named)).toBe("tool_not_found");
    expect(await judged([{ effect: "allow" }, { effect: "deny", ...byKey }], named)).toBe("tool_not_found");
    expect(await judged([{ effect: "allow" }, { effect: "ask", ...byKey }], named)).toBe("forbidden");
    expect(await judged([{ effect: "allow", who: { keys: ["k"] } }], named)).toBe("passed");
    const byAddress = { who: { users: ["Ada@Example.org"] } };
    const unproven = { principal: person({ claimed: true }) };
    expect(await judged([{ effect: "allow", ...byAddress }], {})).toBe("passed");
    expect(await judged([{ effect: "allow", ...byAddress }], unproven)).toBe("tool_not_found");
    expect(await judged([{ effect: "allow" }, { effect: "deny", ...byAddress }], unproven)).toBe(
      "tool_not_found",
    );
    const byName = [{ effect: "allow", when: 'principal.name == "ada@example.org"' }];
    expect(await judged(byName, {})).toBe("passed");
    expect(await judged(byName, unproven)).toBe("forbidden");
  });

  test("matches keys without owner by name", async () => {
    const rules = [{ effect: "allow", who: { keys: ["ci"] } }];
    expect(
      await judged(rules, { principal: { id: "k", kind: "key", name: "ci", roles: [], groups: [] } }),
    ).toBe("passed");
    const asUser = [{ effect: "allow", who: { users: ["ci"] } }];
    expect(
      await judged(asUser, { principal: { id: "k", kind: "key", name: "ci", roles: [], groups: [] } }),
    ).toBe("tool_not_found");
  });

  test("matches tools by tiers and labels", async () => {
    const rules = [{ effect: "allow", tiers: ["readOnly"], labels: ["safe"] }];
    expect(await judged(rules, { annotations: { readOnlyHint: true }, labels: ["safe"] })).toBe("passed");
    expect(await judged(rules, { annotations: { readOnlyHint: true } })).toBe("tool_not_found");
    expect(await judged(rules, { annotations: { destructiveHint: true }, labels: ["safe"] })).toBe(
      "tool_not_found",
    );
  });

  test.each([
    [{ amount: 50 }, "passed"],
    [{ amount: 500 }, "forbidden"],
    [{}, "forbidden"],
    [{ amount: "50" }, "forbidden"],
    [{ amount: [1, 2, 100] }, "passed"],
    [{ amount: [1, 200] }, "forbidden"],
    [{ amount: [] }, "forbidden"],
  ])("an allow rule with args matches only if all values match: %j", async (args, expected) => {
    expect(await judged([{ effect: "allow", args: { amount: { max: 100, min: 0 } } }], { args })).toBe(
      expected,
    );
  });

  test.each([
    [{ to: { path: "/etc/passwd" } }, "forbidden"],
    [{ to: { path: "/home/a" } }, "passed"],
    [{ to: {} }, "forbidden"],
    [{}, "forbidden"],
    [{ to: [{ path: "/home/a" }, { path: "/etc/x" }] }, "forbidden"],
    [{ to: { path: 5 } }, "forbidden"],
  ])("a deny rule with args matches if one value matches or is missing: %j", async (args, expected) => {
    const rules = [{ effect: "allow" }, { effect: "deny", args: { "to.path": { glob: "/etc/*" } } }];
    expect(await judged(rules, { args })).toBe(expected);
  });

  test.each([
    ["allow", '{"n": 9007199254740993}', "forbidden"],
    ["allow", '{"n": 9007199254740991}', "passed"],
    ["deny", '{"n": 1e300}', "forbidden"],
  ])("treats numbers above 2^53 as missing: %s %s", async (effect, written, expected) => {
    const rules = [{ effect, args: { n: effect === "allow" ? { max: 9007199254740992 } : { max: 1 } } }];
    const more = effect === "allow" ? {} : { default: "allow" };
    expect(await judged(rules, { written }, more)).toBe(expected);
  });

  test("the refusal names the missing argument", async () => {
    const { call } = await testPipeline([
      { use: "policy", rules: [{ effect: "allow", args: { "a.b": { in: [1] } } }] },
    ]);
    await expect(call({ args: { a: {} } })).rejects.toThrow(/"a\.b" is missing/);
  });

  test("refuses arguments with a duplicate key", async () => {
    const { outcome } = await testPipeline([
      { use: "policy", rules: [{ effect: "allow", args: { n: { max: 1 } } }] },
    ]);
    expect(await outcome({ written: '{"n": 5, "n": 1}' })).toBe("forbidden");
    expect(await outcome({ written: '{"n": 5, "\\u006e": 1}' })).toBe("forbidden");
  });

  test("evaluates expressions, and denies if one fails", async () => {
    const when = '"dev" in principal.groups && args.n < 3 && tool.server == "one"';
    const rules = [{ effect: "allow", when }];
    expect(await judged(rules, { args: { n: 1 } })).toBe("passed");
    expect(await judged(rules, { args: { n: 5 } })).toBe("forbidden");
    expect(await judged([...rules, { effect: "allow" }], { args: {} })).toBe("forbidden");
    expect(await judged([{ effect: "allow" }, { effect: "deny", when: "args.deep.er == 1" }], {})).toBe(
      "forbidden",
    );
  });

  test.each([
    ["args.x.matches('a+')", /matches/],
    ["matches(args.x, 'a+')", /matches/],
    ["args.a.all(x, args.b.exists(y, x == y))", /inside another/],
    ["args.n +", /not valid/],
    ["nobody.x == 1", /not valid/],
    ["1 + 1", /true or false/],
    [`${"(".repeat(60)}true${")".repeat(60)}`, /./],
  ])("rejects an invalid expression or one without a time bound: %s", async (when, message) => {
    const entry = { use: "policy", rules: [{ effect: "allow" }, { effect: "deny", when }] };
    await registry.prepare([entry]);
    const [problem] = registry.check(entry);
    if (problem) {
      expect(problem.path).toBe("/rules/1/when");
      expect(problem.message).toMatch(message);
    } else expect(when).toContain("true");
  });

  test("asks if one value matches an ask rule, and an ask rule allows only if all values match", async () => {
    const rules = [{ effect: "ask", args: { n: { min: 10 } } }];
    expect(await judged([{ effect: "allow" }, ...rules], { args: { n: 1 } })).toBe("passed");
    expect(await judged([{ effect: "allow" }, ...rules], { args: { n: 10 } })).toBe("forbidden");
    expect(await judged([{ effect: "allow" }, ...rules], { args: { n: [1, 10] } })).toBe("forbidden");
    expect(await judged([{ effect: "allow" }, ...rules], { args: {} })).toBe("forbidden");
    expect(await judged(rules, { args: { n: [1, 10] } })).toBe("forbidden");
  });

  test("hides exactly the tools whose calls would get tool_not_found", async () => {
    const rules = [
      { effect: "allow", who: { groups: ["dev"] }, tools: ["one:*"] },
      { effect: "deny", tools: ["*:delete_*"] },
      { effect: "allow", tools: ["two:*"], args: { n: { max: 1 } } },
    ];
    const { layers, outcome } = await testPipeline([{ use: "policy", rules }]);
    const list = layers[0]?.list;
    const places = ["one:echo", "one:delete_all", "two:x", "three:y"];
    for (const groups of [["dev"], []])
      for (const place of places) {
        const call = callOf({ tool: place, args: { n: 1 }, principal: person({ groups }) });
        const hidden = call.facts && list?.hides(call.facts, call.origin.principal);
        expect((await outcome(call)) === "tool_not_found", `${place} ${groups.join()}`).toBe(
          hidden !== undefined,
        );
      }
    const trail = newTrail();
    await outcome({ tool: "three:y", more: { trail } });
    expect(trail).toMatchObject({ by: "policy", layers: [{ use: "policy", outcome: "refused" }] });
  });

  test("hides the same tools from principals with the same list key", () => {
    const who = fc.record({
      roles: fc.subarray(["admin", "member"]),
      groups: fc.subarray(["dev", "ops"]),
    });
    const rule = fc.record({
      effect: fc.constantFrom("allow", "deny"),
      who: fc.option(fc.record({ groups: fc.subarray(["dev", "ops"], { minLength: 1 }) }), {
        nil: undefined,
      }),
      tools: fc.constantFrom(["*"], ["one:*"], ["*:echo"]),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), who, who, (rules, a, b) => {
        const entry = { use: "policy", rules: rules.map((one) => JSON.parse(JSON.stringify(one))) };
        const { list } = registry.compile(entry, { clock: { now: () => 0, after: () => ({ cancel() {} }) } });
        const [one, two] = [callOf({ principal: a }), callOf({ principal: b })];
        const [p, q] = [one.origin.principal, two.origin.principal];
        if (list?.keyOf?.(p) !== list?.keyOf?.(q) || !one.facts) return;
        expect(list?.hides(one.facts, p)).toEqual(list?.hides(one.facts, q));
      }),
      { numRuns: 300 },
    );
  });
});

describe("the effect approve", () => {
  const rules = [{ effect: "approve", by: { groups: ["leads"] }, withinMs: "1m" }];

  test("makes the call once it is approved, with its full time limits", async () => {
    const { call, waiting, seen, clock } = await testPipeline([
      { use: "timeout", timeoutMs: 1_000, deadlineMs: 5_000 },
      { use: "policy", rules },
    ]);
    const answer = call({ principal: person() });
    await expect.poll(() => waiting.length).toBe(1);
    expect(waiting[0]?.terms).toMatchObject({ by: { groups: ["leads"] }, withinMs: 60_000 });
    clock.advance(59_000);
    expect(seen).toHaveLength(0);
    waiting[0]?.yes();
    expect(String(await answer)).toContain("done");
    expect(seen[0]?.deadline).toBe(64_000);
    clock.advance(5_000);
    expect(clock.pending).toBe(0);
  });

  test("does not make a refused call", async () => {
    const { call, waiting, seen } = await testPipeline([{ use: "policy", rules }]);
    const answer = expect(call({ principal: person() })).rejects.toThrow("not this time");
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.no(new MetaMcpError("forbidden", "not this time"));
    await answer;
    expect(seen).toHaveLength(0);
  });

  test("refuses the call if nobody can approve", async () => {
    const layer = registry.compile({ use: "policy", rules }, { clock: new ManualClock() });
    const handler = pipelineOf(
      [{ ...layer, use: "policy", at: "here" }],
      async () => raw(RESULT),
      new ManualClock(),
    );
    await expect(handler(callOf({ principal: person() }))).rejects.toThrow(/nobody can approve it here/);
  });
});
