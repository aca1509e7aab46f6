import { expect, test } from "vitest";
import { TemporaryKeys } from "./temporary-keys.ts";

const SECRET = Buffer.alloc(32, 1);

test("a temporary key opens its endpoint at every process with the secret, for one minute", () => {
  let now = 1_000;
  const [one, two] = [new TemporaryKeys(SECRET, () => now), new TemporaryKeys(SECRET, () => now)];
  const key = one.issue("endpoint", "self-test");
  for (const keys of [one, two]) {
    const holder = keys.holderOf(key.text);
    expect(holder?.principal).toEqual(key.principal);
    expect([holder?.opens("endpoint"), holder?.opens("other")]).toEqual([true, false]);
  }
  expect(new TemporaryKeys(Buffer.alloc(32, 2), () => now).holderOf(key.text)).toBeUndefined();
  for (const text of ["", "pass_", `${key.text}A`, key.text.slice(5)])
    expect(one.holderOf(text)).toBeUndefined();
  now += 60_000;
  expect(two.holderOf(key.text)).toBeUndefined();
});

test("an ended key is invalid at once where it was made", () => {
  const keys = new TemporaryKeys(SECRET);
  const [key, other] = [keys.issue("endpoint", "a"), keys.issue("endpoint", "a")];
  key.end();
  expect(keys.holderOf(key.text)).toBeUndefined();
  expect(keys.holderOf(other.text)?.principal.id).toBe(other.principal.id);
});
