/** Clients that know only the address of an endpoint log in and use it as the person. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { mcp } from "../../support/mcp-request.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import {
  ADA,
  BOB,
  grantedClient,
  type OfficialClientKind,
  oauthTeam,
  officialClient,
} from "../../support/oauth-team.ts";

test("official clients of both SDKs log in unattended over every transport", async () => {
  const team = await oauthTeam();
  const clients: readonly OfficialClientKind[] = ["v1", "v1 sse", "v2", "v2 2026-07-28"];
  for (const client of clients) {
    const { tools } = await officialClient(team, client, ADA);
    expect(await tools(), client).toContain("fix__echo");
  }
});

test("a token is valid only for its endpoint, account and client", async () => {
  const team = await oauthTeam();
  const { tokens } = await grantedClient(team, ADA);
  const other = await grantedClient(team, ADA);
  const begun = await mcp(team, "one", { token: tokens.access_token });
  expect(begun.status).toBe(200);
  const session = begun.headers.get("mcp-session-id") ?? "";
  const use = (token: string, endpoint = "one") => mcp(team, endpoint, { token, session });
  expect((await use(tokens.access_token)).status).toBe(200);
  // A session belongs to the person and the client, so the same person with another client cannot use it.
  expect((await use(other.tokens.access_token)).status).toBe(404);
  const elsewhere = await mcp(team, "two", { token: tokens.access_token });
  expect(elsewhere.status).toBe(401);
  expect(elsewhere.headers.get("www-authenticate")).toContain('error="invalid_token"');
  for (const path of ["/me", "/endpoints", "/users"]) {
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await adminFetch(`${team.url}/api/v1${path}`, { headers })).status).toBe(401);
  }
  expect((await mcp(team, "one", { headers: { "x-api-key": tokens.access_token } })).status).toBe(401);
  const renewed = await other.client.refresh(other.tokens.refresh_token);
  expect((await mcp(team, "one", { token: renewed.body.access_token })).status).toBe(200);
});

test("an endpoint that does not exist, is disabled or is not allowed gives the same answer", async () => {
  const team = await oauthTeam();
  const shown = async (endpoint: string) => {
    const asking = new OAuthClient(team.url, { endpoint });
    await asking.register();
    const page = await asking.logIn(ADA);
    return { status: page.status, text: page.text.replaceAll(`>${endpoint}<`, ">NAME<") };
  };
  const never = await shown("never");
  expect(never.status).toBe(403);
  expect(await shown("off")).toEqual(never);
  expect(await shown("ours")).toEqual(never);
  const { tokens } = await grantedClient(team, BOB, { endpoint: "ours" });
  expect((await mcp(team, "ours", { token: tokens.access_token })).status).toBe(200);
  const { body: endpoints } = await team.api("GET", "/endpoints");
  const { uuid } = endpoints.items.find(({ name }: { name: string }) => name === "ours");
  await team.api("PATCH", `/endpoints/${uuid}`, { access: { allow: { users: [ADA.email] } } });
  expect((await mcp(team, "ours", { token: tokens.access_token })).status).toBe(404);
});
