/** Attacks on the authorization server. */
import { expect, test } from "vitest";
import { authorization, EMAIL, PASSWORD } from "../../support/authorization.ts";
import { Browser } from "../../support/browser.ts";
import { CALLBACK, OAuthClient } from "../../support/oauth-client.ts";

const ADA = { email: EMAIL, password: PASSWORD };

async function registered(more: Parameters<typeof authorization>[0] = {}) {
  const server = await authorization(more);
  const client = new OAuthClient(server.url);
  await client.register();
  return { ...server, client };
}

async function codeFor(client: OAuthClient): Promise<string> {
  const back = await client.logIn(ADA);
  return back.url.searchParams.get("code") ?? "";
}

test("a code that is used twice revokes its tokens", async () => {
  const { client, ended, ada } = await registered();
  const code = await codeFor(client);
  const first = await client.exchange(code);
  expect(first.status).toBe(200);
  expect((await client.exchange(code)).body.error).toBe("invalid_grant");
  expect((await client.refresh(first.body.refresh_token)).body.error).toBe("invalid_grant");
  expect(ended).toEqual([{ account: ada.uuid, client: client.id }]);
});

test("of several concurrent exchanges of one code exactly one gets tokens", async () => {
  const { client } = await registered();
  const code = await codeFor(client);
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.exchange(code)));
  const [issued, ...refused] = answers.sort((a, b) => a.status - b.status);
  expect([issued?.status, issued?.body.access_token]).toEqual([200, expect.any(String)]);
  expect(refused.map(({ body }) => body.error)).toEqual(Array(4).fill("invalid_grant"));
});

test("a refresh token that is used twice revokes its token family and no other login", async () => {
  const { client, grants, ada, store } = await registered();
  const first = (await client.exchange(await codeFor(client))).body;
  const second = (await client.exchange(await codeFor(client))).body;
  const rotated = (await client.refresh(first.refresh_token)).body;
  expect(rotated.refresh_token).not.toBe(first.refresh_token);
  expect((await client.refresh(first.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.refresh(rotated.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.refresh(second.refresh_token)).status).toBe(200);
  expect(await grants.list(ada.uuid)).toHaveLength(1);
  expect(await store.records.list("oauth-revoked")).toHaveLength(1);
});

test("PKCE with S256 is required", async () => {
  const { client } = await registered();
  const refused = [
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge: client.verifier, code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge: "short" },
  ];
  for (const more of refused) {
    const { url } = await new Browser().open(client.authorizeUrl(more));
    expect(url.searchParams.get("error")).toBe("invalid_request");
    expect(url.searchParams.has("code")).toBe(false);
  }
  const code = await codeFor(client);
  expect((await client.exchange(code, { code_verifier: "x".repeat(43) })).body.error).toBe("invalid_grant");
  const { code_verifier: _, ...bare } = { code_verifier: "", grant_type: "authorization_code", code };
  expect((await client.token({ ...bare, redirect_uri: CALLBACK })).status).toBe(400);
});

test("a redirect goes only to the exact registered address", async () => {
  const { client } = await registered();
  const tricks = [
    "https://client.test/callback/",
    "https://client.test/callback?x=1",
    "https://client.test/callback#x",
    "https://client.test:8443/callback",
    "https://client.test/callback/../other",
    "https://client.test@evil.test/callback",
    "https://client.test.evil.test/callback",
    "https://CLIENT.test/callback",
    "http://client.test/callback",
    "//evil.test/callback",
    "javascript:alert(1)",
  ];
  for (const redirect_uri of tricks) {
    const page = await new Browser().open(client.authorizeUrl({ redirect_uri }));
    expect(page.status, redirect_uri).toBe(400);
    expect(page.headers.get("location"), redirect_uri).toBeNull();
    expect(page.text).not.toContain("<script");
  }
  const code = await codeFor(client);
  expect((await client.exchange(code, { redirect_uri: "https://client.test/other" })).body.error).toBe(
    "invalid_grant",
  );
});

test.each([
  "http://client.test/callback",
  "javascript:alert(1)",
  "data:text/html,x",
  "https://a:b@client.test/callback",
  "https://*.client.test/callback",
  "https://client.test/callback#fragment",
  "no address",
])("a client cannot register %s as its redirect address", async (uri) => {
  const { url } = await authorization();
  const client = new OAuthClient(url);
  const { status, body } = await client.register({ redirect_uris: [uri] });
  expect(status).toBe(400);
  expect(body.error).toMatch(/invalid_redirect_uri|invalid_client_metadata/);
});

test("a loopback redirect address may use any port, but must otherwise match", async () => {
  const { url } = await authorization();
  const client = new OAuthClient(url, { redirectUri: "http://127.0.0.1:1111/callback" });
  await client.register();
  client.redirectUri = "http://127.0.0.1:2222/callback";
  const back = await client.logIn(ADA);
  expect(back.url.origin).toBe("http://127.0.0.1:2222");
  expect((await client.exchange(back.url.searchParams.get("code") ?? "")).status).toBe(200);
  for (const redirect_uri of ["http://127.0.0.1:2222/other", "http://localhost:2222/callback"])
    expect((await new Browser().open(client.authorizeUrl({ redirect_uri }))).status).toBe(400);
});

test("every authorization response names the issuer, also an error", async () => {
  const { url, client } = await registered();
  const refused = await client.browser.open(client.authorizeUrl({ code_challenge_method: "plain" }));
  expect(refused.url.searchParams.get("iss")).toBe(url);
  const login = await client.browser.open(client.authorizeUrl());
  const consent = await client.browser.submit(login, ADA);
  const back = await client.browser.submit(consent, { action: "refuse" });
  expect(Object.fromEntries(back.url.searchParams)).toMatchObject({
    error: "access_denied",
    iss: url,
    state: "a-state",
  });
});

test("forwarding headers of a request change neither addresses nor cookies", async () => {
  const { url, client } = await registered();
  const browser = new Browser({
    "x-forwarded-host": "evil.test",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/evil",
    forwarded: "host=evil.test;proto=https",
    "x-original-url": "/evil",
  });
  const metadata = await browser.open(`${url}/.well-known/oauth-authorization-server`);
  expect(metadata.text).not.toContain("evil");
  expect(JSON.parse(metadata.text)).toMatchObject({ issuer: url, token_endpoint: `${url}/oauth/token` });
  const attacked = new OAuthClient(url, { browser });
  attacked.id = client.id;
  const back = await attacked.logIn(ADA);
  expect(back.url.href.startsWith(CALLBACK)).toBe(true);
  expect(browser.visited.join(" ")).not.toContain("evil");
  expect([...browser.cookies.values()].map(({ attributes }) => attributes).join()).not.toContain("Secure");
});

test("a form is accepted only from our own page and in the browser that loaded it", async () => {
  const { client } = await registered();
  const page = await client.browser.open(client.authorizeUrl());
  for (const headers of [
    { origin: "https://evil.test" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])
    expect((await client.browser.submit(page, ADA, headers)).status).toBe(403);
  const stranger = await new Browser().submit(page, ADA);
  expect(stranger.status).toBe(400);
  expect(stranger.text).toContain("expired");
  const consent = await client.browser.submit(page, ADA);
  expect((await new Browser().submit(consent, { action: "allow" })).status).toBe(400);
});

test("pages forbid frames, scripts and foreign addresses", async () => {
  const { client } = await registered();
  const page = await client.browser.open(client.authorizeUrl());
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(policy).toContain("form-action 'self' https://client.test;");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("referrer-policy")).toBe("same-origin");
});

test("a client's name and a typed email address are escaped in pages", async () => {
  const { url } = await authorization();
  const client = new OAuthClient(url);
  await client.register({ client_name: '"><script>alert(1)</script><b title="' });
  const page = await client.browser.open(client.authorizeUrl());
  expect(page.text).not.toMatch(/<script|<b /);
  const wrong = await client.browser.submit(page, { email: '"><script>', password: "x" });
  expect(wrong.status).toBe(401);
  expect(wrong.text).not.toContain("<script");
});

test("invisible characters and direction marks are removed from a client's name", async () => {
  const { url } = await authorization();
  const client = new OAuthClient(url);
  await client.register({ client_name: "\u202eedualC\u2066 \u200bofficial\n\u0000" });
  const page = await client.browser.open(client.authorizeUrl());
  expect(page.text).toContain("<bdi>edualC official</bdi>");
  await client.register({ client_name: "\u200b\u2066" });
  const withoutName = await client.browser.open(client.authorizeUrl());
  expect(withoutName.text).toContain(`<bdi>${client.id}</bdi>`);
});

test("a resource must be exactly one endpoint that accepts OAuth", async () => {
  const { url, client } = await registered();
  for (const resource of [
    undefined,
    "https://elsewhere.test/metamcp/one/mcp",
    `${url}/metamcp/closed/mcp`,
    `${url}/metamcp/one/other`,
    `${url}/metamcp/one/mcp?x=1`,
    `${url}/`,
    "nonsense",
  ]) {
    const { url: back } = await new Browser().open(client.authorizeUrl({ resource }));
    expect(back.searchParams.get("error"), resource).toBe("invalid_target");
  }
  const several = `${client.authorizeUrl()}&resource=${encodeURIComponent(`${url}/metamcp/two/mcp`)}`;
  expect((await new Browser().open(several)).url.searchParams.get("error")).toBe("invalid_target");
  const code = await codeFor(client);
  const other = await client.exchange(code, { resource: `${url}/metamcp/two/mcp` });
  expect(other.body.error).toBe("invalid_target");
});

test("codes and refresh tokens work only for the client that received them", async () => {
  const { url, client } = await registered();
  const other = new OAuthClient(url);
  await other.register();
  const code = await codeFor(client);
  expect((await client.exchange(code, { client_id: other.id })).body.error).toBe("invalid_grant");
  const tokens = (await client.exchange(await codeFor(client))).body;
  expect((await other.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
});

test("one address can register 20 clients per minute", async () => {
  let now = Date.now();
  const { url } = await authorization({ now: () => now });
  const client = new OAuthClient(url);
  for (let count = 0; count < 20; count += 1) expect((await client.register()).status).toBe(201);
  const refused = await client.register();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  now += 61_000;
  expect((await client.register()).status).toBe(201);
});

test("one address can begin 120 logins per minute", async () => {
  let now = Date.now();
  const { client } = await registered({ now: () => now });
  const begin = () => fetch(client.authorizeUrl(), { redirect: "manual" });
  for (let count = 0; count < 120; count += 1) expect((await begin()).status).toBe(303);
  const refused = await begin();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  now += 61_000;
  const back = await client.logIn(ADA);
  expect(back.url.searchParams.get("code")).toEqual(expect.any(String));
});

test("a closed registration rejects clients and is not advertised", async () => {
  const { url } = await authorization({ registers: () => false });
  expect((await new OAuthClient(url).register()).status).toBe(403);
  const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as object;
  expect(metadata).not.toHaveProperty("registration_endpoint");
});

test("a client metadata document is not fetched from private addresses", async () => {
  const { url } = await authorization();
  const client = new OAuthClient(url);
  for (const id of [
    "https://127.0.0.1/client.json",
    "https://localhost/client.json",
    "https://[::1]/client.json",
    "https://[::ffff:10.0.0.1]/client.json",
    "https://10.0.0.1/client.json",
    "https://169.254.169.254/latest",
    "https://2130706433/client.json",
    "https://client.localhost/client.json",
    "http://client.test/client.json",
  ]) {
    client.id = id;
    const page = await new Browser().open(client.authorizeUrl());
    expect(page.status, id).toBe(400);
    expect(page.text).toMatch(/client/);
  }
});

test("a client metadata document names its client and is valid only under its own address", async () => {
  const id = "https://client.test/client.json";
  const document = {
    client_id: id,
    client_name: "A documented client",
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
  };
  const fetched: string[] = [];
  const { url } = await authorization({
    fetch(address) {
      fetched.push(String(address));
      const other = String(address).includes("other");
      return Promise.resolve(
        new Response(JSON.stringify(other ? { ...document, client_id: id } : document), {
          headers: { "content-type": "application/json", "cache-control": "max-age=600" },
        }),
      );
    },
  });
  const client = new OAuthClient(url);
  client.id = id;
  const login = await client.browser.open(client.authorizeUrl());
  const consent = await client.browser.submit(login, ADA);
  for (const shown of ["A documented client", "client.test"]) expect(consent.text).toContain(shown);
  const back = await client.browser.submit(consent, { action: "allow" });
  expect((await client.exchange(back.url.searchParams.get("code") ?? "")).status).toBe(200);
  expect(fetched).toEqual([id]);
  client.id = "https://client.test/other.json";
  expect((await new Browser().open(client.authorizeUrl())).status).toBe(400);
});

test("the store contains no readable code, token, client secret, verifier or cookie", async () => {
  const { client, database } = await registered();
  const code = await codeFor(client);
  const { body } = await client.exchange(code);
  const rotated = await client.refresh(body.refresh_token);
  const secret = await new OAuthClient(client.url).register({
    token_endpoint_auth_method: "client_secret_post",
  });
  const rows = JSON.stringify(await database.sql("SELECT * FROM metamcp_records"));
  const cookies = [...client.browser.cookies.values()].map(({ value }) => value);
  const secrets = [
    code,
    body.access_token,
    body.refresh_token,
    rotated.body.refresh_token,
    secret.body.client_secret ?? "none",
    client.verifier,
    ...cookies,
  ];
  for (const text of secrets) {
    expect(text.length).toBeGreaterThan(20);
    expect(rows).not.toContain(text);
  }
});

test("a consent counts only for the redirect host that it named", async () => {
  const server = await authorization();
  const [shown, stolen] = ["https://good.test/callback", "https://evil.test/steal"];
  const client = new OAuthClient(server.url, { redirectUri: shown });
  await client.register({ redirect_uris: [shown, stolen, "https://good.test:8443/callback"] });
  expect((await client.logIn(ADA)).url.origin).toBe("https://good.test");
  const again = async (redirect_uri: string) =>
    await client.browser.open(client.authorizeUrl({ redirect_uri }));
  expect((await again(shown)).url.searchParams.has("code")).toBe(true);
  for (const [uri, host] of [
    [stolen, "evil.test"],
    ["https://good.test:8443/callback", "good.test:8443"],
  ] as const) {
    const page = await again(uri);
    expect(page.url.origin).toBe(server.url);
    expect(page.text).toContain(`<dd>${host}</dd>`);
  }
  expect(await server.grants.list(server.ada.uuid)).toHaveLength(1);
});

test("a consent counts only for its host in a client metadata document too", async () => {
  const id = "https://client.test/client.json";
  const redirect_uris = [CALLBACK, "https://other.test/callback"];
  const document = { client_id: id, client_name: "A", redirect_uris, token_endpoint_auth_method: "none" };
  const { url } = await authorization({ fetch: () => Promise.resolve(Response.json(document)) });
  const client = new OAuthClient(url);
  client.id = id;
  await client.logIn(ADA);
  const page = await client.browser.open(client.authorizeUrl({ redirect_uri: redirect_uris[1] }));
  expect(page.text).toContain("<dd>other.test</dd>");
});

test.each([
  ["http://127.0.0.1:1111/callback", "http://127.0.0.1:2222/callback"],
  ["https://localhost:1111/callback", "https://localhost:1111/callback"],
  ["com.example.app:/callback", "com.example.app:/callback"],
])("a client on the user's machine asks at each login: %s", async (redirectUri, next) => {
  const { url, grants, ada } = await authorization();
  const client = new OAuthClient(url, { redirectUri });
  await client.register();
  await client.logIn(ADA);
  const page = await client.browser.open(client.authorizeUrl({ redirect_uri: next }));
  expect([page.url.origin, page.text.includes('value="allow"')]).toEqual([url, true]);
  await client.browser.submit(page, { action: "allow" });
  expect(await grants.list(ada.uuid)).toHaveLength(1);
});

test("a consent or grant without redirect host and endpoint, from an older gateway, does not count", async () => {
  const { client, grants, store, ada } = await registered();
  const tokens = (await client.exchange(await codeFor(client))).body;
  const stored = [
    ...(await store.records.list("oauth-consent")),
    ...(await store.records.list("oauth-grant")),
  ];
  expect(stored).toHaveLength(2);
  for (const { kind, id, value } of stored) {
    const { endpoint: _, redirectHost: __, ...older } = value as Record<string, unknown>;
    await store.records.put({ kind, id, value: older as never });
  }
  expect((await client.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect(await grants.list(ada.uuid)).toEqual([]);
  await grants.revokeWithout(() => true);
  expect(await store.records.list("oauth-consent")).toEqual([]);
  expect((await client.browser.open(client.authorizeUrl())).text).toContain('value="allow"');
});

test("consents and grants belong to one endpoint, not to its name", async () => {
  let id = "the first";
  const { client } = await registered({ endpointId: () => id });
  const first = (await client.exchange(await codeFor(client))).body;
  const code = await codeFor(client);
  id = "another of that name";
  expect((await client.refresh(first.refresh_token)).body.error).toBe("invalid_grant");
  expect((await client.exchange(code)).body.error).toBe("invalid_grant");
  expect((await client.browser.open(client.authorizeUrl())).text).toContain('value="allow"');
  id = "the first";
  client.resource = client.resource.replace("/one/", "/two/");
  const renamed = await client.browser.open(client.authorizeUrl());
  expect(renamed.url.searchParams.has("code")).toBe(true);
});
