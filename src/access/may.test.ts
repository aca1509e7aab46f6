import { expect, test } from "vitest";
import type { Principal } from "../kernel/principal.ts";
import { ROLES, type Role } from "./account.ts";
import { ACTIONS, MATRIX, may } from "./may.ts";

const person = (role: Role, id = "ada"): Principal => ({ id, kind: "account", roles: [role], groups: [] });
const token = (role: Role): Principal => ({ ...person(role, "admin-token"), kind: "token" });
const STRANGER: Principal = { id: "anonymous", kind: "anonymous", roles: [], groups: [] };

test("a role has the rights of its row and of all lesser roles, and a stranger may only log in", () => {
  for (const action of ACTIONS) {
    const { least } = MATRIX[action];
    const from = least === "anyone" ? ROLES.length : ROLES.indexOf(least);
    for (const [at, role] of ROLES.entries()) expect(may(person(role), action), action).toBe(at <= from);
    expect(may(STRANGER, action), action).toBe(least === "anyone");
  }
});

test("a token has no account, so it has no rights that need one", () => {
  for (const action of ["me.change", "me.secrets", "me.grants"] as const)
    expect(may(token("admin"), action), action).toBe(false);
  expect(may(token("member"), "keys.write")).toBe(false);
  // For objects of others no account of its own is needed.
  expect(may(token("admin"), "keys.write")).toBe(true);
});

test("an object of another account, or of nobody, needs the right for those of others", () => {
  for (const action of ["keys.read", "keys.write", "endpoints.try"] as const)
    for (const role of ROLES) {
      expect(may(person(role), action, { owner: "ada" }), `${action} ${role}`).toBe(true);
      for (const owner of ["bob", undefined])
        expect(may(person(role), action, { owner }), `${action} ${role}`).toBe(role === "admin");
    }
});

test("nobody grants a role with more rights than their own", () => {
  for (const [own, role] of ROLES.entries())
    for (const [at, granted] of ROLES.entries())
      expect(may(person(role), "keys.write", { owner: "ada", role: granted })).toBe(at >= own);
});
