import fc from "fast-check";
import { expect, test } from "vitest";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { Cursors, claimedOffset } from "./cursor.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const cursors = new Cursors({ secret: Buffer.alloc(32, 1) });
const offset = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function refused(cursor: string, binding: string): boolean {
  try {
    cursors.read(cursor, binding);
    return false;
  } catch (error) {
    return error instanceof RpcError && error.code === INVALID_PARAMS;
  }
}

test("a cursor returns its offset for the same binding only", () => {
  fc.assert(
    fc.property(offset, fc.string(), fc.string(), (at, binding, other) => {
      const cursor = cursors.write(at, binding);
      expect([cursors.read(cursor, binding), claimedOffset(cursor)]).toEqual([at, at]);
      expect(refused(cursor, other)).toBe(other !== binding);
    }),
  );
  expect(cursors.read(undefined, "x")).toBe(0);
});

test("an altered cursor is refused", () => {
  fc.assert(
    fc.property(offset, fc.nat(21), fc.integer({ min: 1, max: 63 }), (at, place, by) => {
      const cursor = cursors.write(at, "b");
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

test("a cursor is valid for every process with the secret, and for no other", () => {
  const cursor = cursors.write(7, "b");
  expect(new Cursors({ secret: Buffer.alloc(32, 1) }).read(cursor, "b")).toBe(7);
  expect(() => new Cursors({ secret: Buffer.alloc(32, 2) }).read(cursor, "b")).toThrow(RpcError);
});
