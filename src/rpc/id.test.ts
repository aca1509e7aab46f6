import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { idKey, ownId, writeId } from "./id.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const keyOf = (text: string) => idKey(raw(text));

describe("idKey", () => {
  test.each([
    ["1", "1.0"],
    ["100000", "1e5"],
    ["100000", "1E+5"],
    ["120", "1.2e2"],
    ["123456789012000", "123456789012e3"],
    ['"a"', '"\\u0061"'],
    ['"a/b"', '"a\\/b"'],
  ])("gives %s and %s the same key", (one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  test.each([
    ["1", '"1"'],
    ["1", "-1"],
    ["1", "1.5"],
    ["0", '"0"'],
    ["0", "1e-400"],
    ["1e400", "2e400"],
    ["9007199254740992", "9007199254740993"],
    ["12345678901234567890", "12345678901234567891"],
    ["999999999999998", "999999999999999"],
    ['"a"', '"A"'],
    ['"a"', '"a\\u0000"'],
    ['""', "0"],
    ['"\\ud800"', '"\\udc00"'],
  ])("gives %s and %s different keys", (one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });

  test("gives two ids the same key exactly if they are equal", () => {
    const id = fc.oneof(fc.maxSafeInteger(), fc.nat(20), fc.string(), fc.nat(20).map(String));
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(keyOf(JSON.stringify(one)) === keyOf(JSON.stringify(other))).toBe(one === other);
      }),
    );
  });
});

test("writeId writes JSON, and ownId reads it back as a number or a string", () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.maxSafeInteger().map(Math.abs)), (id) => {
      const written = writeId(id);
      expect(written.toString()).toBe(String(id));
      expect(ownId(written)).toBe(id);
      expect(ownId(raw(`"${id}"`))).toBe(id);
    }),
  );
});

test.each(['"x"', '"1x"', '"1.0"', '" 1"', "-1", "1.5", "null", '""', '"-1"'])(
  "ownId does not accept %s",
  (text) => {
    expect(ownId(raw(text)) > 0 && Number.isInteger(ownId(raw(text)))).toBe(false);
  },
);

test("a list or object is no id in another spelling, so it is not parsed", () => {
  for (const text of ['["\\u0041"]', '{"a":"\\u0041"}']) expect(keyOf(text)).toBe(text);
});
