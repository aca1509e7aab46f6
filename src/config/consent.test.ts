import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf, runsOf } from "./consent.ts";

const COUNTED = ["command", "args", "env", "cwd", "url", "headers", "inheritEnv", "oauth", "type"] as const;
const TEXTS = ["timeoutMs", "tools", "examples", "lifecycle", "prefix", "description", "retry"] as const;
const entry = { command: "node", args: ["a"], env: { A: "1", B: "2" }, cwd: "." };

test.each(COUNTED)("a change of %s is a change of what is run or called", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).not.toBe(digestOf(entry));
});

test.each(TEXTS)("a change of %s is none", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).toBe(digestOf(entry));
});

test("two entries that differ in anything that counts have different digests, and the order of keys means nothing", () => {
  const words = fc.array(fc.string(), { maxLength: 3 });
  const map = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true });
  const some = fc.record({ command: fc.string(), args: words, env: map, cwd: fc.string(), headers: map });
  fc.assert(
    fc.property(some, some, (a, b) => {
      const turned = Object.fromEntries(Object.entries(a).toReversed());
      expect(digestOf({ ...turned, env: Object.fromEntries(Object.entries(a.env).toReversed()) })).toBe(
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

test("what is switched off does not count, an embedder does", () => {
  const file = { mcpServers: { a: { ...entry, disabled: true }, b: { ...entry, enabled: false }, c: null } };
  expect(runsOf(file)).toEqual([]);
  expect(runsOf({ ...file, embedder: { url: "https://e.example" } })).toHaveLength(1);
});

test("nothing can hide in what is shown, and what loads code is shown", () => {
  const odd = {
    command: "node",
    args: ["\u202eevil", "a\nb"],
    env: { NODE_OPTIONS: "--require x", K: "hush-hush" },
  };
  const shown = runsOf({ mcpServers: { odd } })[0]?.shown.join("|") ?? "";
  expect(shown).toContain("\\u{202e}evil");
  expect(shown).toContain("a\\u{a}b");
  expect(shown).toContain("NODE_OPTIONS='--require x' K=[secret]");
});
