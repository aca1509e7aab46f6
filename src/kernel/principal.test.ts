import { expect, test } from "vitest";
import { callerOf, type Origin } from "./call.ts";
import {
  ANONYMOUS,
  accountOf,
  LOCAL,
  LOCAL_USER,
  matchesPrincipal,
  type Principal,
  samePrincipal,
} from "./principal.ts";
import { EMPTY_OBJECT } from "./raw.ts";

const alice = { ...LOCAL_USER, kind: "account", id: "alice" } as const;

test("samePrincipal is false for another principal, and true for two anonymous ones", () => {
  expect(samePrincipal(alice, { ...alice, roles: ["admin"] })).toBe(true);
  expect(samePrincipal(alice, { ...alice, id: "bob" })).toBe(false);
  expect(samePrincipal(alice, ANONYMOUS)).toBe(false);
  // A proxy that authenticates itself may renew the credential.
  expect(samePrincipal(ANONYMOUS, { ...ANONYMOUS, id: "anonymous 2" })).toBe(true);
});

test("an account with another key or client is another principal, but matchesPrincipal without a key or client matches all", () => {
  const key = (id: string): Principal => ({ ...alice, key: { id, name: id } });
  const client = (id: string): Principal => ({ ...alice, client: id });
  const all = [alice, key("a"), key("b"), client("a"), client("b")];
  for (const one of all)
    for (const other of all) {
      expect(samePrincipal(one, other)).toBe(one === other);
      expect(matchesPrincipal(one, other)).toBe(one === alice || one === other);
    }
  expect(matchesPrincipal(alice, { ...alice, id: "bob" })).toBe(false);
});

test("callerOf returns the session, and without sessions the principal and the endpoint", () => {
  const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody")) };
  const at = (more: Partial<Origin>): string =>
    callerOf({ ...LOCAL, session: "s", capabilities: EMPTY_OBJECT, uplink, ...more });
  expect(at({ principal: alice })).toBe("s");
  const alices = at({ principal: alice, sessionless: true });
  expect(at({ principal: alice, sessionless: true, session: "t" })).toBe(alices);
  expect(at({ sessionless: true })).not.toBe(alices);
  expect(at({ principal: alice, sessionless: true, endpoint: "other" })).not.toBe(alices);
});

const OWNER: Principal = { id: "owner", kind: "account", roles: ["member"], groups: [] };

test("accountOf returns the account, with any key or client", () => {
  expect(accountOf(OWNER)).toBe("owner");
  const byKey: Principal = { ...OWNER, key: { id: "k", name: "a key" } };
  const byClient: Principal = { ...OWNER, client: "an editor" };
  expect([byKey, byClient].map(accountOf)).toEqual(["owner", "owner"]);
  expect(accountOf(ANONYMOUS)).toBeUndefined();
});

test("accountOf returns undefined for an administrator who acts as the account", () => {
  const actor = { kind: "account", id: "root", name: "root@example.org" };
  expect(accountOf({ ...OWNER, actor })).toBeUndefined();
});
