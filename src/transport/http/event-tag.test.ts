import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, toRaw } from "../../kernel/raw.ts";
import { readTag, writeTag } from "./event-tag.ts";

test("a tag says which replica wrote the event, and in answer to which request", () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.string({ maxLength: 20 })), fc.boolean(), (value, safe) => {
      const id = toRaw(value);
      const eventId = `3-17${writeTag("01ab23cd", { id, safe })}`;
      expect(eventId).toMatch(/^[\w-]+$/);
      expect(readTag(eventId)).toEqual({ event: "3-17", replica: "01ab23cd", request: { id, safe } });
    }),
  );
});

test("streams without a request, and very long ids, have only the replica", () => {
  expect(readTag(`0-5${writeTag("ab")}`)).toEqual({ event: "0-5", replica: "ab", request: undefined });
  const id = toRaw("x".repeat(200));
  expect(readTag(`1-5${writeTag("ab", { id, safe: true })}`)).toMatchObject({
    replica: "ab",
    request: undefined,
  });
});

test("what is no id of a request is not sent back", () => {
  for (const text of ['{"a":1}', "null", "[1]", '"a', '1\n\n{"x":1}']) {
    const written = writeTag("ab", { id: asRaw(Buffer.from(text)), safe: false });
    expect(readTag(`1-5${written}`)?.request, text).toBeUndefined();
  }
  for (const id of ["", "1-5", "x", "1-5-", "1-5-zz", "1-5-ab-s-", `1-5-ab-s-${"A".repeat(173)}`])
    expect(readTag(id), id).toBeUndefined();
});
