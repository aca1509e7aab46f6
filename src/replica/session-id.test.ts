import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { digestOf, SessionIds } from "./session-id.ts";

const ADA: Principal = { id: "ada", kind: "account", roles: [], groups: [] };
const PLACE = { endpoint: "0b9a6f0e-team", principal: ADA };
const facts = () => ({
  session: randomBytes(16).toString("hex"),
  owner: "01ab23cd",
  said: digestOf(Buffer.from("{}")),
});

test("an id opens at every replica with the same key, and only at its endpoint for its principal", () => {
  const key = randomBytes(32);
  const said = facts();
  const id = new SessionIds(key).seal(said, PLACE);
  const ids = new SessionIds(key);
  expect(ids.open(id, PLACE)).toEqual(said);
  expect(ids.open(id, { ...PLACE, endpoint: "another" })).toBeUndefined();
  expect(ids.open(id, { ...PLACE, principal: { ...ADA, id: "bob" } })).toBeUndefined();
  expect(ids.open(id, { ...PLACE, principal: { ...ADA, key: { id: "k", name: "k" } } })).toBeUndefined();
  expect(ids.open(id, { ...PLACE, principal: { ...ADA, kind: "key" } })).toBeUndefined();
  expect(new SessionIds(randomBytes(32)).open(id, PLACE)).toBeUndefined();
});

test("callers without credentials cannot be told apart", () => {
  const ids = new SessionIds(randomBytes(32));
  const id = ids.seal(facts(), { ...PLACE, principal: ANONYMOUS });
  expect(ids.open(id, { ...PLACE, principal: { ...ANONYMOUS, id: "anonymous 1" } })).toBeDefined();
});

test("ids have a fixed size and differ for the same facts", () => {
  const ids = new SessionIds(randomBytes(32));
  const said = facts();
  const all = Array.from({ length: 20 }, () => ids.seal(said, PLACE));
  expect(new Set(all).size).toBe(20);
  for (const id of all) expect(id).toMatch(/^[\w-]{130}$/);
});

test("a changed or foreign id does not open", () => {
  const ids = new SessionIds(randomBytes(32));
  const id = ids.seal(facts(), PLACE);
  fc.assert(
    fc.property(fc.nat(id.length - 1), fc.constantFrom(..."AQgw_-!ä"), (at, letter) => {
      const changed = `${id.slice(0, at)}${letter}${id.slice(at + 1)}`;
      expect(ids.open(changed, PLACE) === undefined || changed === id).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(ids.open(text, PLACE)).toBeUndefined();
    }),
  );
});
