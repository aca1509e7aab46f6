import fc from "fast-check";
import { expect, test } from "vitest";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { claimedOffset, readCursor, writeCursor } from "./cursor.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const offset = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function refused(cursor: string, binding: string): boolean {
  try {
    readCursor(cursor, binding);
    return false;
  } catch (error) {
    return error instanceof RpcError && error.code === INVALID_PARAMS;
  }
}

test("a cursor returns its offset for the same binding only", () => {
  fc.assert(
    fc.property(offset, fc.string(), fc.string(), (at, binding, other) => {
      const cursor = writeCursor(at, binding);
      expect([readCursor(cursor, binding), claimedOffset(cursor)]).toEqual([at, at]);
      expect(refused(cursor, other)).toBe(other !== binding);
    }),
  );
  expect(readCursor(undefined, "x")).toBe(0);
});

test("an altered cursor is refused", () => {
  fc.assert(
    fc.property(offset, fc.nat(21), fc.integer({ min: 1, max: 63 }), (at, place, by) => {
      const cursor = writeCursor(at, "b");
      const digit = ALPHABET[ALPHABET.indexOf(cursor[place] as string) ^ by];
      expect(refused(`${cursor.slice(0, place)}${digit}${cursor.slice(place + 1)}`, "b")).toBe(true);
      for (const garbled of [
        `${cursor}=`,
        `${cursor}!`,
        ` ${cursor}`,
        `${cursor}AA`,
        cursor.slice(0, -1),
        "",
      ])
        expect(refused(garbled, "b"), garbled).toBe(true);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => refused(text, "b")));
});
