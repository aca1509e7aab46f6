import fc from "fast-check";
import { expect, test } from "vitest";
import { LineTable } from "./line-table.ts";

const line = fc.string({ unit: fc.constantFrom(..."ab c^~"), maxLength: 4 });

test("a table has the number of each of its lines, and no other text", () => {
  fc.assert(
    fc.property(fc.uniqueArray(line, { minLength: 1, maxLength: 200 }), fc.string(), (lines, other) => {
      const table = new LineTable(Buffer.from(lines.join("\n")));
      expect(lines.map((text) => table.indexOf(text))).toEqual([...lines.keys()]);
      expect(table.indexOf(other)).toBe(lines.indexOf(other));
    }),
  );
});

test("an empty text is one empty line", () => {
  const table = new LineTable(new Uint8Array(0));
  expect(["", "a", "\n"].map((text) => table.indexOf(text))).toEqual([0, -1, -1]);
});

test("a character beyond a byte is not the byte", () => {
  expect(new LineTable(Buffer.from("a")).indexOf(String.fromCharCode(0x161))).toBe(-1);
});
