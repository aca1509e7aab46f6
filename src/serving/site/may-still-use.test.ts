import { expect, test } from "vitest";
import type { Account } from "../../access/account.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { Principal } from "../../kernel/principal.ts";
import { mayStillUse } from "./may-still-use.ts";

const endpoint = (access: object): CompiledEndpoint =>
  ({
    object: { spec: { access: { public: false, keys: true, oauth: true, queryKey: false, ...access } } },
  }) as never;
const ada: Account = {
  uuid: "ada",
  email: "ada@example.com",
  role: "member",
  groups: ["staff"],
  disabled: false,
  createdAt: "",
  updatedAt: "",
};
const principal = (more: Partial<Principal>): Principal => ({
  id: "ada",
  kind: "account",
  roles: ["member"],
  groups: ["staff"],
  ...more,
});
const may = (access: object, more: Partial<Principal> = {}, account: Account | undefined = ada) =>
  mayStillUse(endpoint(access), principal(more), { byId: () => account });

test("a public endpoint is open to everybody, another one not to strangers", () => {
  expect(may({ public: true }, { kind: "anonymous" })).toBe(true);
  expect(may({}, { kind: "anonymous" })).toBe(false);
});

test("an account that was deleted, disabled or is no longer allowed loses the endpoint", () => {
  expect(may({})).toBe(true);
  expect(mayStillUse(endpoint({}), principal({}), { byId: () => undefined })).toBe(false);
  expect(may({}, {}, { ...ada, disabled: true })).toBe(false);
  expect(may({ allow: { groups: ["staff"] } })).toBe(true);
  expect(may({ allow: { groups: ["staff"] } }, {}, { ...ada, groups: [] })).toBe(false);
});

test("keys and OAuth clients lose the endpoint when it takes them no longer", () => {
  const key = { id: "k", name: "laptop" };
  expect(may({}, { key })).toBe(true);
  expect(may({ keys: false }, { key })).toBe(false);
  expect(may({ oauth: false }, { key })).toBe(true);
  expect(may({}, { client: "c" })).toBe(true);
  expect(may({ oauth: false }, { client: "c" })).toBe(false);
  expect(may({ keys: false }, { kind: "key", id: "service", key })).toBe(false);
});

test("an administrator who tries a call as somebody else is not judged as that person", () => {
  const actor = { kind: "account", id: "root", name: "root@example.com" };
  expect(may({ allow: {} }, { actor })).toBe(true);
});
