/**
 * What ends immediately when an account is disabled or a consent is revoked: tokens, refresh tokens, sessions
 * and streams.
 */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { Browser } from "../../support/browser.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { mcp } from "../../support/mcp-request.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { ADA, BOB, grantedClient, oauthTeam } from "../../support/oauth-team.ts";

/** An open stream of the endpoint. */
async function stream(url: string, token: string): Promise<{ readonly ended: Promise<string> }> {
  const begun = await mcp({ url }, "one", { token });
  const response = await fetch(`${url}/metamcp/one/mcp`, {
    headers: {
      ...HEADERS,
      authorization: `Bearer ${token}`,
      "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    },
  });
  expect(response.status).toBe(200);
  return { ended: response.text().catch(() => "") };
}

async function cookieOf(url: string, person: typeof ADA): Promise<Record<string, string>> {
  const response = await adminFetch(`${url}/api/v1/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify(person),
  });
  expect(response.status).toBeLessThan(300);
  const cookie = response.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  return { cookie: cookie.join("; "), origin: url, "content-type": "application/json" };
}

test("disabling an account ends its tokens and streams, and a client can revoke its own tokens", async () => {
  const team = await oauthTeam();
  const { client, tokens } = await grantedClient(team, ADA);
  const other = await grantedClient(team, BOB);
  const open = await stream(team.url, tokens.access_token);
  const ada = `/users/${team.people[ADA.email]}`;
  expect((await team.api("PATCH", ada, { disabled: true })).status).toBe(200);
  await open.ended;
  expect((await mcp(team, "one", { token: tokens.access_token })).status).toBe(401);
  expect((await client.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.browser.open(client.authorizeUrl())).text).toContain('name="password"');
  expect((await mcp(team, "one", { token: other.tokens.access_token })).status).toBe(200);
  // A client can revoke its own token.
  const given = other;
  const answer = await fetch(`${team.url}/oauth/revoke`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ client_id: given.client.id, token: given.tokens.refresh_token }).toString(),
  });
  expect(answer.status).toBe(200);
  expect((await mcp(team, "one", { token: given.tokens.access_token })).status).toBe(401);
  expect((await given.client.refresh(given.tokens.refresh_token)).body.error).toBe("invalid_grant");
  // Revoked tokens stay revoked.
  await team.api("PATCH", ada, { disabled: false });
  expect((await mcp(team, "one", { token: tokens.access_token })).status).toBe(401);
  expect((await client.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
});

test("a person can list their grants and revoke one", async () => {
  const team = await oauthTeam();
  const { client, tokens } = await grantedClient(team, ADA);
  const second = await grantedClient(team, ADA, { endpoint: "two" });
  const headers = await cookieOf(team.url, ADA);
  const mine = async () =>
    (await (await adminFetch(`${team.url}/api/v1/me/grants`, { headers })).json()) as {
      items: { id: string; endpoint: string }[];
    };
  const { items } = await mine();
  expect(items).toHaveLength(2);
  const [one] = items.filter(({ endpoint }) => endpoint === "one");
  expect(one).toMatchObject({
    client: { id: client.id, name: "Test client" },
    redirectHost: "client.test",
    resource: client.resource,
  });
  const open = await stream(team.url, tokens.access_token);
  const revoke = (as: Record<string, string>) =>
    adminFetch(`${team.url}/api/v1/me/grants/${one?.id}`, { method: "DELETE", headers: as });
  expect((await revoke(await cookieOf(team.url, BOB))).status).toBe(404);
  expect((await revoke(headers)).status).toBe(204);
  await open.ended;
  expect((await mine()).items).toHaveLength(1);
  expect((await mcp(team, "one", { token: tokens.access_token })).status).toBe(401);
  expect((await client.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect((await mcp(team, "two", { token: second.tokens.access_token })).status).toBe(200);
  expect((await team.api("GET", `/users/${team.people[ADA.email]}/grants`)).body.items).toHaveLength(1);
});

test("a console login is enough for authorization, and a consent is remembered per client and endpoint", async () => {
  const team = await oauthTeam();
  const browser = new Browser();
  const { client } = await grantedClient(team, ADA, { browser });
  const again = await browser.open(client.authorizeUrl());
  expect(again.url.searchParams.has("code")).toBe(true);
  // Another client and another endpoint need their own consent.
  const other = new OAuthClient(team.url, { browser });
  await other.register();
  expect((await browser.open(other.authorizeUrl())).text).toContain('value="allow"');
  client.resource = `${team.url}/metamcp/two/mcp`;
  expect((await browser.open(client.authorizeUrl())).text).toContain("<dd>two</dd>");
  // A native client with a loopback address always needs consent, because any program could use it.
  const native = await grantedClient(team, ADA, { browser, redirectUri: "http://127.0.0.1:4444/callback" });
  expect((await browser.open(native.client.authorizeUrl())).text).toContain('value="allow"');
  // After a logout at the console the login is required again.
  const cookie = [...browser.cookies].find(([name]) => name.startsWith("metamcp "));
  await adminFetch(`${team.url}/api/v1/logout`, {
    method: "POST",
    headers: { cookie: `metamcp=${cookie?.[1].value}`, origin: team.url },
  });
  client.resource = `${team.url}/metamcp/one/mcp`;
  expect((await browser.open(client.authorizeUrl())).text).toContain('name="password"');
});

test("the tokens of a deleted endpoint do not open another one of its name, and a renamed one needs no new consent", async () => {
  const team = await oauthTeam();
  const { api } = team;
  const { client, tokens } = await grantedClient(team, ADA);
  const status = async (token: string, endpoint = "one") => (await mcp(team, endpoint, { token })).status;
  expect(await status(tokens.access_token)).toBe(200);
  const body = { name: "one", namespaces: ["team"], surface: "aggregate" };
  await api("PATCH", "/endpoints/one", { name: "renamed" });
  await api("POST", "/endpoints", body);
  expect(await status(tokens.access_token)).toBe(401);
  client.resource = `${team.url}/metamcp/renamed/mcp`;
  const back = await client.browser.open(client.authorizeUrl());
  const moved = (await client.exchange(back.url.searchParams.get("code") ?? "")).body;
  expect(await status(moved.access_token, "renamed")).toBe(200);
  await api("DELETE", "/endpoints/renamed");
  await api("POST", "/endpoints", { ...body, name: "renamed" });
  expect(await status(moved.access_token, "renamed")).toBe(401);
  expect((await client.refresh(moved.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.browser.open(client.authorizeUrl())).text).toContain('value="allow"');
});
