import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isOfLaterVersion, Seal } from "./seal.ts";

const secret = randomBytes(32);
const seal = new Seal({ secret }, "tasks");

test("a sealed text opens only with the same secret, reader and purpose", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (content, reader) => {
      const sealed = seal.close(content, reader);
      expect(new Seal({ secret }, "tasks").open(sealed, reader)).toBe(content);
      expect(seal.open(sealed, `${reader}x`)).toBeUndefined();
      expect(new Seal({ secret }, "other").open(sealed, reader)).toBeUndefined();
      expect(new Seal({ secret: randomBytes(32) }, "tasks").open(sealed, reader)).toBeUndefined();
    }),
  );
});

test("a sealed text with a changed, added or removed character does not open", () => {
  const sealed = seal.close("content", "reader");
  for (let i = 0; i < sealed.length; i++) {
    for (const other of ["A", "b", "=", "", "AA"]) {
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1);
      if (changed !== sealed) expect(seal.open(changed, "reader"), `at ${i}`).toBeUndefined();
    }
  }
  for (const nothing of ["", "x", "task-1"]) expect(seal.open(nothing, "reader")).toBeUndefined();
});

test("a sealed text does not show its content, nor that two have the same content", () => {
  const [one, other] = [seal.close("github", "reader"), seal.close("github", "reader")];
  expect(one).not.toBe(other);
  expect(Buffer.from(one, "base64url").includes("github")).toBe(false);
});

test("a text of a later format does not open, and is known as such", () => {
  const sealed = seal.close("content", "reader");
  const later = Buffer.from(sealed, "base64url");
  later[0] = 2;
  expect(seal.open(later.toString("base64url"), "reader")).toBeUndefined();
  expect([later.toString("base64url"), sealed, "", "Ag"].map(isOfLaterVersion)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a sealed text opens only as it was written, without characters that decoding ignores", () => {
  const sealed = seal.close("content", "reader");
  for (const other of [`${sealed}=`, `${sealed}!`, ` ${sealed}`, sealed.replace(/^./, "$&\n")])
    expect(seal.open(other, "reader")).toBeUndefined();
});
