import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob, mustAsk, permits } from "./glob.ts";

test.each([
  ["read_file", "read_file", true],
  ["read_file", "read_files", false],
  ["read_*", "read_", true],
  ["read_*", "write_read_", false],
  ["*_file", "read_file", true],
  ["*", "", true],
  ["**", "anything", true],
  ["?", "", false],
  ["a?c", "abc", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["*a", "aa", true],
  ["a.c", "abc", false],
  ["[ab]", "a", false],
  ["[ab]", "[ab]", true],
  ["(a|b)+$", "(a|b)+$", true],
  ["\\*", "\\anything", true],
  ["a*", "*", false],
  ["*x*", "a*x*b", true],
])("the glob %s matches %s: %s", (pattern, name, fits) => {
  expect(compileGlob(pattern)(name)).toBe(fits);
});

test("a glob matches the same names as the equivalent regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  const names = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 10 });
  fc.assert(
    fc.property(letters, names, (pattern, name) => {
      const expression = new RegExp(`^${pattern.replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`);
      expect(compileGlob(pattern)(name)).toBe(expression.test(name));
    }),
    { numRuns: 2_000 },
  );
});

test("a pattern with 200 stars is matched without exponential backtracking", () => {
  expect(compileGlob(`${"*a".repeat(200)}b`)("a".repeat(20_000))).toBe(false);
});

test("deny wins over allow, a missing allow allows all tools, an empty one none, and ask is independent of both", () => {
  const none = { allow: undefined, deny: [], ask: [] };
  const rules = { allow: ["read_*", "delete_*"], deny: ["*_all"], ask: ["delete_*"] };

  expect(permits(none, "x")).toBe(true);
  expect(mustAsk(none, "x")).toBe(false);
  expect(["x", "y"].map((tool) => permits({ ...none, deny: ["x"] }, tool))).toEqual([false, true]);
  expect(["x", "y"].map((tool) => permits({ ...none, allow: ["x"] }, tool))).toEqual([true, false]);
  expect(permits({ ...none, allow: [] }, "x")).toBe(false);
  expect(["read_one", "write", "delete_one", "read_all"].map((tool) => permits(rules, tool))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(["read_one", "delete_one"].map((tool) => mustAsk(rules, tool))).toEqual([false, true]);
});
