import fc from "fast-check";
import { expect, test } from "vitest";
import { fromHeader, toHeader } from "./header-value.ts";

test.each([
  ["us-west1", "us-west1"],
  ["two words", "two words"],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["", "=?base64??="],
])("toHeader encodes %j as %j, and fromHeader decodes it", (value, header) => {
  expect(toHeader(value)).toBe(header);
  expect(fromHeader(header)).toBe(value);
});

test("any text survives encoding and decoding, and the encoded form is a valid header", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const header = toHeader(text);
      expect(header).toMatch(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/);
      expect(fromHeader(header)).toBe(text);
    }),
  );
});

test.each(["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG9=?=", "caf\u00e9"])(
  "fromHeader rejects %j",
  (header) => {
    expect(fromHeader(header)).toBeUndefined();
  },
);
