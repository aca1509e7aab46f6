import { expect, test } from "vitest";
import type { Account } from "./account.ts";
import { isAllowed } from "./allow.ts";

const ada: Account = {
  uuid: "0192aaaa-0000-7000-8000-000000000001",
  email: "Ada@Example.com",
  role: "editor",
  groups: ["staff"],
  disabled: false,
  createdAt: "",
  updatedAt: "",
};

test("without a rule every account is allowed, with empty lists none", () => {
  expect(isAllowed(ada, undefined)).toBe(true);
  expect(isAllowed(ada, {})).toBe(false);
  expect(isAllowed(ada, { users: [], groups: [], roles: [] })).toBe(false);
});

test("an account is named by its id or its address, whatever the case", () => {
  expect(isAllowed(ada, { users: [ada.uuid.toUpperCase()] })).toBe(true);
  expect(isAllowed(ada, { users: ["ada@example.COM"] })).toBe(true);
  expect(isAllowed(ada, { users: ["ada@example.org"] })).toBe(false);
});

test("an address that the issuer has not verified names nobody", () => {
  const outside = { ...ada, identity: { issuer: "https://idp.test", subject: "1" } };
  expect(isAllowed(outside, { users: ["ada@example.com"] })).toBe(false);
  expect(isAllowed({ ...outside, emailVerified: true }, { users: ["ada@example.com"] })).toBe(true);
});

test("one list that fits is enough", () => {
  expect(isAllowed(ada, { users: ["bob@example.com"], groups: ["staff"] })).toBe(true);
  expect(isAllowed(ada, { groups: ["Staff"] })).toBe(false);
});

test("a role also allows roles with more rights, and an unknown role nobody", () => {
  expect(isAllowed(ada, { roles: ["member"] })).toBe(true);
  expect(isAllowed(ada, { roles: ["editor"] })).toBe(true);
  expect(isAllowed(ada, { roles: ["admin"] })).toBe(false);
  expect(isAllowed(ada, { roles: ["owner"] })).toBe(false);
});
