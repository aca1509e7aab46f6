/**
 * Logins at servers with two gateways on one Postgres: begun at one and finished at the other, renewed by one
 * at a time, and ended at both. The clock of one is two hours behind.
 */
import { describe, expect, test } from "vitest";
import { clockOff, HOUR } from "../../support/clock-off.ts";
import { type Issuer, issuer } from "../../support/issuer.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";
import { userLoginServer } from "../../support/user-login-server.ts";
import { userLoginPerson } from "../../support/user-login-team.ts";

const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };

const renewals = (by: Issuer): number => by.requests("/token", "refresh_token").length;

async function caller(gateway: TeamProcess, key: string) {
  const client = await until(() => teamClient(gateway, "main", { key }).catch(() => undefined), {
    what: "the endpoint at the other gateway",
  });
  return () => client.call("mcp_call", { server: "mail", tool: "inbox" });
}

describe.skipIf(noPostgres)(`on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, () => {
  test("a login is begun, used, renewed and ended across two gateways", async () => {
    const { url, sql } = await postgresDatabase();
    const start = (more = {}) => teamProcess(temp(), { flags: ["--store", url], env: { ...env, ...more } });
    const [one, two] = [await start(), await start(clockOff(-2 * HOUR))];
    const by = await issuer();
    const mail = await userLoginServer(by);
    await one.api("POST", "/mcp-servers", { name: "mail", url: mail.url, credentials: "user" });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "mail" }] });
    await one.api("POST", "/endpoints", { name: "main", namespaces: ["team"] });
    const ada = await userLoginPerson(one, "ada@example.org");
    const [here, there] = [await caller(one, ada.key), await caller(two, ada.key)];
    expect(await there()).toMatch(/^auth_required/);

    // The login is begun at one gateway and finished at the other.
    const begun = await ada.ask("POST", "/me/logins/mail", {});
    const left = await fetch(String(begun.body["url"]), { redirect: "manual" });
    const back = new URL(left.headers.get("location") ?? "");
    back.host = new URL(two.url).host;
    expect((await ada.browser.open(back)).text).toContain("You can use");
    await until(async () => (await here()) === "inbox by user 0", { what: "the login at the first" });
    expect(await there()).toBe("inbox by user 0");
    expect(renewals(by)).toBe(0);

    // Both notice the expired token at the same time. A refresh token that is used twice would end the login.
    for (let round = 1; round <= 3; round++) {
      by.expireAll();
      const calls = [here, there, here, there, here, there].map((call) => call());
      expect(new Set(await Promise.all(calls))).toEqual(new Set(["inbox by user 0"]));
      expect(renewals(by)).toBe(round);
    }
    expect(by.families.map(({ revoked }) => revoked)).toEqual([false]);

    // The lease of a gateway that died while renewing expires, and a gateway that is renewing is waited for.
    const [{ id }] = (await sql("SELECT id FROM metamcp_records WHERE kind = 'server-login'")) as [
      { id: string },
    ];
    const lease = `INSERT INTO metamcp_records (kind, id, value, version, expires_at) VALUES ('lease', 'login ${id}', '{}', 0, ${Date.now() + 2_000})`;
    await sql(lease);
    by.expireAll();
    expect(await there()).toBe("inbox by user 0");

    await ada.ask("DELETE", "/me/logins/mail");
    expect(await here()).toMatch(/^auth_required/);
    await until(async () => (await there()).startsWith("auth_required"), { what: "the logout at the other" });
    const records = JSON.stringify(await sql("SELECT * FROM metamcp_records"));
    for (const secret of by.secrets) expect(records).not.toContain(secret);
  });
});
