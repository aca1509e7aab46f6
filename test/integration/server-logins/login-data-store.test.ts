/** A gateway that was stopped for longer than its lease does not touch the login of another one. */
import { describe, expect, test } from "vitest";
import { loginDataStoreInDatabase } from "../../../src/server-logins/accounts/login-data-store.ts";
import { LoginRecords } from "../../../src/server-logins/accounts/login-records.ts";
import { EMPTY_LOGIN_DATA, type Grant, type LoginData } from "../../../src/server-logins/grant.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";

const ISSUER = "https://login.example.org";
const KEY = { server: "s", account: "a" };

function grant(accessToken: string): Grant {
  const issuer = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    response_types_supported: ["code"],
  };
  const common = { issuer, client: { client_id: "c" }, configured: false, scopes: [], obtainedAt: 1 };
  return { ...common, url: "https://mail.example.org/", account: "a", id: accessToken, accessToken };
}

const withGrants = (...tokens: string[]): LoginData => ({ ...EMPTY_LOGIN_DATA, grants: tokens.map(grant) });

describe.each([
  ["SQLite", async () => sqliteDatabase(), undefined],
  ["Postgres", () => postgresDatabase(), noPostgres],
] as const)("in %s", (_, database, missing) => {
  test.skipIf(missing).each([
    ["a renewal", () => withGrants("late")],
    ["a logout, as the issuer no longer knows the old token", () => withGrants()],
  ])("%s that comes late changes nothing", async (_what, late) => {
    const store = await (await database()).open();
    const open = () => {
      const records = new LoginRecords(store);
      return loginDataStoreInDatabase({ store, records }, KEY);
    };
    const [stopped, other] = [open(), open()];
    await other.update(async () => withGrants("first"));
    const change = stopped.update(async () => {
      // Its lease has run out meanwhile.
      await store.records.write([{ delete: { kind: "lease", id: `login ${KEY.server} ${KEY.account}` } }]);
      await other.update(async () => withGrants("second"));
      return late();
    });
    await expect(change).rejects.toMatchObject({ code: "auth_required" });
    const { loginData } = await other.update(async (now) => now);
    expect(loginData.grants.map(({ accessToken }) => accessToken)).toEqual(["second"]);
  });
});
