import fc from "fast-check";
import { expect, test } from "vitest";
import { containsSecret, isSecretName } from "./looks-secret.ts";

test.each([
  [{ token: "x" }],
  [{ apiKey: "x" }],
  [{ API_KEY: "x" }],
  [{ "x-api-key": "x" }],
  [{ nested: [{ userPassword: "x" }] }],
  [{ Authorization: "x" }],
  [{ privateKey: 1 }],
  [{ url: "https://user:hunter2@example.com/" }],
  [{ url: "https://example.com/?access_token=abcdef" }],
  [{ header: "Bearer abcdefgh12345" }],
  [{ text: "use sk-abcdefghijkl for it" }],
  [{ text: "ghp_0123456789abcdefABCD" }],
  [{ text: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc" }],
  [{ text: "-----BEGIN RSA PRIVATE KEY-----" }],
  [{ text: "password: hunter2" }],
  [{ body: ["AKIAIOSFODNN7EXAMPLE"] }],
  [{ id: "f47ac10b58cc4372a5670e02b2c3d479" }],
  [{ ghp_0123456789abcdefABCD: 1 }],
])("%j looks like a secret", (value) => expect(containsSecret(value)).toBe(true));

test.each([
  [{ message: "hello world" }],
  [{ path: "/home/ada/projects/readme.md", limit: 10 }],
  [{ query: "how do I rotate the logs of nginx?" }],
  [{ url: "https://example.com/docs/introduction-to-the-api?page=2" }],
  [{ keyword: "monkey", tokenize: true, passenger: 1 }],
  [{ date: "2026-01-31T12:00:00.000Z" }],
  [{ sql: "SELECT name, total FROM orders WHERE total > 100" }],
  [{ a: 1, b: [true, null], c: { d: 2.5 } }],
])("%j does not look like a secret", (value) => expect(containsSecret(value)).toBe(false));

test("random texts with the length of a key look like secrets", () => {
  const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...alphabet), { minLength: 32, maxLength: 64 }), (characters) => {
      const text = characters.join("");
      fc.pre(/\d/.test(text) && new Set(characters).size >= 20);
      expect(containsSecret({ value: text })).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("isSecretName checks each word of a name", () => {
  expect(["key", "idempotencyKey", "auth_token", "PIN"].map(isSecretName)).toEqual([true, true, true, true]);
  expect(["keyboard", "author", "spin", "compass"].map(isSecretName)).toEqual([false, false, false, false]);
});
