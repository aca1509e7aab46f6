import { expect, test } from "vitest";
import { moved, type Rule, sentenceOf, withField } from "./rule.ts";

const said = (rule: Rule): string => {
  const { effect, rest } = sentenceOf(rule);
  return `${effect} ${rest}`;
};

test("a rule reads as a sentence, its effect first", () => {
  expect(
    said({
      effect: "approve",
      tools: ["postgres:drop_*", "github:merge_*"],
      by: { groups: ["leads"] },
      withinMs: 7_200_000,
    }),
  ).toBe("Require approval of group leads for postgres:drop_*, github:merge_* within 2 h");
  expect(said({ effect: "deny", who: { groups: ["guests"], users: ["eve"] }, tiers: ["destructive"] })).toBe(
    "Deny all tools that may delete or overwrite to eve, group guests",
  );
  expect(said({ effect: "allow" })).toBe("Allow all tools");
  expect(said({ effect: "ask", tools: ["bank:pay"], args: { amount: { min: 10 } } })).toBe(
    "Ask before bank:pay if amount fits",
  );
});

test("an empty field is left out, and rules can be moved", () => {
  expect(withField({ effect: "deny", tools: ["a"] }, "tools", [])).toEqual({ effect: "deny" });
  expect(withField({ effect: "deny" }, "when", "true")).toEqual({ effect: "deny", when: "true" });
  expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
});
