import { expect, test } from "vitest";
import type { Account, ExternalIdentity } from "../access/account.ts";
import { Bearers } from "./bearers.ts";
import type { Claims } from "./claims.ts";
import { SCOPE } from "./resource.ts";
import type { Tokens } from "./tokens.ts";

const CLAIMS: Claims = {
  issuer: "https://issuer.test",
  subject: "u1",
  audience: ["here"],
  scopes: [SCOPE],
  client: "c",
  expiresAt: Number.POSITIVE_INFINITY,
  groups: ["dev"],
};

const HERE = { audience: "here", open: true };

/** Bearers of a token that is verified already. `write` runs before its account is created. */
function bearers(write: () => Promise<void>, trusts = () => true, claims: Partial<Claims> = {}) {
  let account: Account | undefined;
  const found = (): Account | undefined => account;
  const accounts = {
    byId: found,
    byIdentity: found,
    async ofIdentity({ issuer, subject, groups = [] }: ExternalIdentity): Promise<Account> {
      await write();
      const at = new Date(0).toISOString();
      const fields = { uuid: "a", email: "a@example.org", createdAt: at, updatedAt: at };
      account = { ...fields, role: "member", groups, disabled: false, identity: { issuer, subject } };
      return account;
    },
  };
  const known = { ...CLAIMS, ...claims };
  const tokens = { cached: () => known, trusts: () => trusts() } as unknown as Tokens;
  return new Bearers({
    tokens,
    grants: { isRevoked: (grant) => grant === "revoked" },
    accounts,
    machines: { machineOf: () => undefined },
    now: () => 50,
  });
}

test("requests with a new token that arrive together all wait for its account", async () => {
  let ready = (): void => {};
  const written = new Promise<void>((resolve) => {
    ready = resolve;
  });
  let writes = 0;
  const known = bearers(() => {
    writes += 1;
    return written;
  });
  const both = [known.holderOf("t", HERE), known.holderOf("t", HERE)];
  ready();
  for (const holder of both) expect(await holder).toMatchObject({ account: { uuid: "a" } });
  expect(writes).toBe(1);
  expect(known.holderOf("t", HERE)).toMatchObject({ account: { groups: ["dev"] } });
});

test("an account that could not be written is tried again by the next request", async () => {
  let down = true;
  const known = bearers(() => (down ? Promise.reject(new Error("the store is down")) : Promise.resolve()));
  await expect(known.holderOf("t", HERE)).rejects.toThrow("down");
  down = false;
  expect(await known.holderOf("t", HERE)).toMatchObject({ account: { uuid: "a" } });
});

test("a token for an endpoint that takes none creates no account", async () => {
  let writes = 0;
  const known = bearers(async () => {
    writes += 1;
  });
  expect(known.holderOf("t", { ...HERE, open: false })).toBe("no_endpoint");
  expect(writes).toBe(0);
});

test.each([
  ["for another audience", { audience: ["https://another-service.test"] }, "invalid_token"],
  ["without an audience", { audience: [] }, "invalid_token"],
  ["that has expired", { expiresAt: 50 }, "invalid_token"],
  ["of a revoked grant", { grant: "revoked" }, "invalid_token"],
  ["without the scope", { scopes: ["openid"] }, "insufficient_scope"],
])("a token %s is refused and creates no account", async (_, claims, refusal) => {
  let writes = 0;
  const known = bearers(
    async () => {
      writes += 1;
    },
    () => true,
    claims,
  );
  expect(await known.holderOf("t", HERE)).toBe(refusal);
  expect(writes).toBe(0);
});

test("a token whose issuer is removed while its account is written is refused", async () => {
  let trusted = true;
  const known = bearers(
    async () => {
      trusted = false;
    },
    () => trusted,
  );
  expect(await known.holderOf("t", HERE)).toBe("invalid_token");
});
