import { expect, test } from "vitest";
import type { Principal } from "../../kernel/principal.ts";
import { isOwnCall, mayDecide } from "./may-decide.ts";

const person = (id: string, role: string, ...groups: string[]): Principal => ({
  id,
  kind: "account",
  roles: [role],
  groups,
});
const asked = (by: { roles?: string[]; groups?: string[] }) => ({
  by,
  principal: { kind: "account", id: "ada", name: "ada@example.com" },
});

test("administrators decide about every call, their own too", () => {
  expect(mayDecide(asked({}), person("root", "admin"))).toBe(true);
  expect(mayDecide(asked({}), person("ada", "admin"))).toBe(true);
});

test("others decide only where the rule names their role or group", () => {
  expect(mayDecide(asked({}), person("bob", "editor", "ops"))).toBe(false);
  expect(mayDecide(asked({ roles: ["viewer"] }), person("bob", "editor"))).toBe(true);
  expect(mayDecide(asked({ roles: ["editor"] }), person("bob", "viewer"))).toBe(false);
  expect(mayDecide(asked({ groups: ["ops"] }), person("bob", "member", "ops"))).toBe(true);
  expect(mayDecide(asked({ roles: ["owner"] }), person("bob", "editor"))).toBe(false);
});

test("nobody else decides about their own call, even where the rule names them", () => {
  expect(mayDecide(asked({ groups: ["ops"], roles: ["member"] }), person("ada", "editor", "ops"))).toBe(
    false,
  );
  expect(isOwnCall(asked({}), person("ada", "editor"))).toBe(true);
});
