/** The authorization server for clients and people: registration, login, consent and tokens. */
import { auth as authV2 } from "@modelcontextprotocol/client";
import { auth } from "@modelcontextprotocol/sdk/client/auth.js";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { authorization, EMAIL, PASSWORD } from "../../support/authorization.ts";
import { CALLBACK, OAuthClient } from "../../support/oauth-client.ts";
import { UnattendedLogin } from "../../support/oauth-team.ts";

const ADA = { email: EMAIL, password: PASSWORD };

async function registered(more: Parameters<typeof authorization>[0] = {}) {
  const server = await authorization(more);
  const client = new OAuthClient(server.url);
  await client.register();
  return { ...server, client };
}

test("a self-registered client gets a token for one endpoint after login and consent", async () => {
  const { url, client, ada } = await registered();
  const first = await client.browser.open(client.authorizeUrl());
  expect(first.status).toBe(200);
  expect(first.text).toContain("Test client");
  expect(first.text).not.toContain("<script");
  const second = await client.browser.submit(first, ADA);
  for (const shown of ["Test client", "<dd>one</dd>", "client.test", EMAIL])
    expect(second.text).toContain(shown);
  const back = await client.browser.submit(second, { action: "allow" });
  expect(back.url.href.startsWith(CALLBACK)).toBe(true);
  expect(Object.fromEntries(back.url.searchParams)).toMatchObject({ state: "a-state", iss: url });
  const { status, body, headers } = await client.exchange(back.url.searchParams.get("code") ?? "");
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toContain("no-store");
  expect(body).toMatchObject({ token_type: "Bearer", scope: "mcp", refresh_token: expect.any(String) });
  expect(body.expires_in).toBeLessThanOrEqual(3_600);
  expect(decodeJwt(body.access_token)).toMatchObject({
    iss: url,
    aud: `${url}/metamcp/one/mcp`,
    sub: ada.uuid,
    client_id: client.id,
    scope: "mcp",
  });
  expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
});

test.each([
  ["v1", auth],
  ["v2", authV2],
])(
  "the official client (%s) logs in with its metadata document and without registration",
  async (_, logIn) => {
    const id = "https://client.test/client.json";
    const person = new UnattendedLogin(ADA, id);
    const document = { client_id: id, ...person.clientMetadata };
    const { url, store } = await authorization({
      fetch: () => Promise.resolve(Response.json(document, { headers: { "cache-control": "max-age=60" } })),
    });
    const serverUrl = `${url}/metamcp/one/mcp`;
    expect(await logIn(person as never, { serverUrl })).toBe("REDIRECT");
    const { code = "", iss = "" } = Object.fromEntries(person.back?.searchParams ?? []);
    expect(await logIn(person as never, { serverUrl, authorizationCode: code, iss })).toBe("AUTHORIZED");
    const { access_token } = person.tokens();
    expect(decodeJwt(access_token)).toMatchObject({ aud: serverUrl, client_id: id });
    expect(await store.records.list("oauth-client")).toEqual([]);
    // The client renews its token without a person.
    expect(await logIn(person as never, { serverUrl })).toBe("AUTHORIZED");
    expect(person.tokens().access_token).not.toBe(access_token);
  },
);

test("every address in the metadata answers", async () => {
  const { url } = await authorization();
  const resource = `${url}/.well-known/oauth-protected-resource/metamcp/one/mcp`;
  const documents = [
    ...["oauth-authorization-server", "openid-configuration"].flatMap((name) => [
      `${url}/.well-known/${name}`,
      `${url}/.well-known/${name}/metamcp/one/mcp`,
      `${url}/metamcp/one/sse/.well-known/${name}`,
    ]),
    resource,
  ];
  const named = new Set<string>();
  for (const address of documents) {
    const metadata = (await (await fetch(address)).json()) as Record<string, unknown>;
    for (const [field, value] of Object.entries(metadata))
      if (/_(?:endpoint|uri)$/.test(field)) named.add(String(value));
  }
  expect([...named].map((address) => new URL(address).pathname).sort()).toEqual([
    "/oauth/authorize",
    "/oauth/jwks",
    "/oauth/register",
    "/oauth/revoke",
    "/oauth/token",
  ]);
  for (const address of named) {
    const answers = await Promise.all(
      ["GET", "POST"].map((method) => fetch(address, { method, redirect: "manual" })),
    );
    expect(
      answers.some(({ status }) => status !== 404),
      address,
    ).toBe(true);
  }
});
