import fc from "fast-check";
import { expect, test } from "vitest";
import { keyIdOf, newKeyText, open, readKey, resealJson, seal } from "./seal.ts";

const key = readKey("a-random-text-of-32-characters-or-more", "KEY");
const other = readKey("another-text-of-32-characters-or-more", "KEY");
const code = (expected: string) => expect.objectContaining({ name: "StoreError", code: expected });

test("open returns any sealed text, and sealing the same text twice gives different results", () => {
  fc.assert(
    fc.property(fc.string(), (ascii) => {
      const text = `\0ä\u{1F600}${ascii}`;
      const sealed = seal(key, text);
      expect(open(key, sealed)).toBe(text);
      expect(seal(key, text)).not.toBe(sealed);
      expect(keyIdOf(sealed)).toBe(key.id);
    }),
  );
});

test("open rejects text that was changed, truncated or sealed with another key", () => {
  const sealed = seal(key, "a secret");
  const start = sealed.lastIndexOf(":") + 1;
  for (let at = start; at < sealed.length - 1; at++) {
    const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
    expect(() => open(key, changed)).toThrow(code("key_wrong"));
    expect(() => open(key, sealed.slice(0, at))).toThrow(code("key_wrong"));
  }
  expect(() => open(other, sealed)).toThrow(code("key_wrong"));
  expect(() => open({ ...other, id: key.id }, sealed)).toThrow(code("key_wrong"));
  expect(() => open(key, "plain")).toThrow(code("key_wrong"));
});

test("readKey accepts random texts, and explains the rule for others", () => {
  expect(readKey(`${newKeyText()}\n`, "KEY").bytes).toHaveLength(32);
  expect(readKey("0123456789abcdef0123456789ABCDEF", "KEY").id).toMatch(/^[\da-f]{16}$/);
  for (const weak of ["", "0123456789abcdef0123456789ABCDE", "a".repeat(64), "a b".repeat(20)])
    expect(() => readKey(weak, "METAMCP_SECRET_KEY")).toThrow(
      /METAMCP_SECRET_KEY .* 32 to 1024 random characters/,
    );
});

test("resealJson reseals the texts of one key and leaves everything else unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const json = JSON.stringify({
        value,
        mine: [seal(key, text)],
        foreign: seal(other, text),
        cut: `sealed:1:${key.id}:AAAA`,
      });
      const after = JSON.parse(resealJson(json, key, other)) as {
        mine: [string];
        foreign: string;
        cut: string;
      };
      expect(open(other, after.mine[0])).toBe(text);
      expect({ ...after, mine: [] }).toEqual({ ...JSON.parse(json), mine: [] });
    }),
  );
});
