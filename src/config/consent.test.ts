import fc from "fast-check";
import { expect, test } from "vitest";
import { consentItems, digestOf } from "./consent.ts";

const RELEVANT_KEYS = [
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "inheritEnv",
  "oauth",
  "type",
] as const;
const OTHER_KEYS = ["timeoutMs", "tools", "examples", "lifecycle", "prefix", "description", "retry"] as const;
const entry = { command: "node", args: ["a"], env: { A: "1", B: "2" }, cwd: "." };

test.each(RELEVANT_KEYS)("the digest changes with %s", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).not.toBe(digestOf(entry));
});

test.each(OTHER_KEYS)("the digest does not depend on %s", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).toBe(digestOf(entry));
});

test("different entries have different digests, and the order of keys does not matter", () => {
  const words = fc.array(fc.string(), { maxLength: 3 });
  const map = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true });
  const some = fc.record({ command: fc.string(), args: words, env: map, cwd: fc.string(), headers: map });
  fc.assert(
    fc.property(some, some, (a, b) => {
      const reversed = Object.fromEntries(Object.entries(a).toReversed());
      expect(digestOf({ ...reversed, env: Object.fromEntries(Object.entries(a.env).toReversed()) })).toBe(
        digestOf(a),
      );
      const same = JSON.stringify(a) === JSON.stringify(b);
      if (!same && digestOf(a) === digestOf(b)) expect(sorted(a)).toBe(sorted(b));
    }),
  );
});

function sorted(value: object): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

test("disabled servers need no consent, an embedder does", () => {
  const file = { mcpServers: { a: { ...entry, disabled: true }, b: { ...entry, enabled: false }, c: null } };
  expect(consentItems(file)).toEqual([]);
  expect(consentItems({ ...file, embedder: { url: "https://e.example" } })).toHaveLength(1);
});

test("the shown lines escape invisible characters, show variables that load code, and hide other values", () => {
  const odd = {
    command: "node",
    args: ["\u202eevil", "a\nb"],
    env: { NODE_OPTIONS: "--require x", K: "hush-hush" },
  };
  const shown = consentItems({ mcpServers: { odd } })[0]?.shown.join("|") ?? "";
  expect(shown).toContain("\\u{202e}evil");
  expect(shown).toContain("a\\u{a}b");
  expect(shown).toContain("NODE_OPTIONS='--require x' K=[secret]");
});
