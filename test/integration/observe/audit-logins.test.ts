/**
 * The audit log records every login, and every client that a person allowed or refused: who, how and from
 * which address.
 */
import { expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { identityProvider, OIDC_CLIENT } from "../../support/identity-provider.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { ADA, oauthTeam } from "../../support/oauth-team.ts";
import { apiClient } from "../../support/people.ts";
import { auditRecords } from "../../support/records.ts";

/** Logs in at the provider, which asks nothing and redirects back. */
async function throughProvider(url: string): Promise<void> {
  const browser = new Browser();
  const there = await browser.open(`${url}/api/v1/login/oidc`);
  const back = await browser.open(there.url);
  await browser.open(back.url);
}

test("the audit log records logins by password, provider and invitation, and decisions about clients", async () => {
  const provider = await identityProvider();
  const { gateway, url } = await oauthTeam({
    flags: ["--oidc-issuer", provider.issuer, "--oidc-client-id", OIDC_CLIENT.id],
    env: { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret },
  });
  const ask = apiClient(url);
  await ask("POST", "/login", { ...ADA, password: "not this one" });
  await ask("POST", "/login", ADA);
  provider.claims = { sub: "u1", email: "eve@example.org", email_verified: true };
  await throughProvider(url);
  provider.spoil = { wrongKey: true };
  await throughProvider(url);
  const client = new OAuthClient(url);
  await client.register();
  const page = await client.browser.open(client.authorizeUrl());
  const wrong = await client.browser.submit(page, { ...ADA, password: "nor this" });
  const consent = await client.browser.submit(wrong, { ...ADA });
  await client.browser.submit(consent, { action: "refuse" });
  const again = await client.browser.open(client.authorizeUrl());
  await client.browser.submit(again, { action: "allow" });

  const records = await auditRecords(gateway, "&kind=login", 10);
  const summaries = records.map(({ action, outcome, principal }) =>
    [action, outcome, (principal as { name: string } | undefined)?.name].filter(Boolean).join(" "),
  );
  expect(summaries).toEqual([
    "invitation ok ada@example.org",
    "invitation ok bob@example.org",
    "password refused",
    "password ok ada@example.org",
    "oidc ok eve@example.org",
    "oidc refused",
    "password refused",
    "password ok ada@example.org",
    "oauth refused ada@example.org",
    "oauth ok ada@example.org",
  ]);
  for (const record of records) expect(record["address"]).toBe("127.0.0.1");
  expect(records.at(-1)).toMatchObject({ client: { name: "Test client" }, endpoint: { name: "one" } });
  const found = async (query: string) => (await gateway.api("GET", `/audit?${query}`)).body.items.length;
  expect(await found("action=oauth&client=Test%20client&endpoint=one")).toBe(2);
  expect(await found("kind=login&address=127.0.0.1&outcome=refused")).toBe(4);
  expect(await found("kind=login&address=192.0.2.7")).toBe(0);
  expect(JSON.stringify(records)).not.toContain(ADA.password);
  expect(gateway.stderr).not.toContain("Unsupported runtime");
});
