/** Login at an identity provider: which account is used, and which answers are rejected. */

import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { Browser as Pages } from "../../support/browser.ts";
import {
  type IdentityProvider,
  identityProvider,
  LOGOUT_EVENT,
  OIDC_CLIENT,
} from "../../support/identity-provider.ts";
import { mcp } from "../../support/mcp-request.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { apiClient } from "../../support/people.ts";
import { auditRecords } from "../../support/records.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const CALLBACK = "/api/v1/login/oidc/callback";

async function gatewayAt(provider: IdentityProvider, ...flags: string[]): Promise<TeamGateway> {
  const env = { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret };
  const common = ["--oidc-issuer", provider.issuer, "--oidc-client-id", OIDC_CLIENT.id];
  return await teamGateway(temp(), { flags: [...common, ...flags], env });
}

/** A browser with cookies. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async get(
    url: string,
    { method = "GET", origin }: { method?: string; origin?: string } = {},
  ): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie === "" ? {} : { cookie }), ...(origin === undefined ? {} : { origin }) };
    const answer = await fetch(url, { method, redirect: "manual", headers });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }

  /** Begins a login and returns the address that the provider redirects back to. */
  async beginLogin({ url }: TeamGateway, query = ""): Promise<string> {
    const there = (await this.get(`${url}/api/v1/login/oidc${query}`)).headers.get("location") ?? "";
    return (await this.get(there)).headers.get("location") ?? "";
  }

  async login(gateway: TeamGateway, query = ""): Promise<Response> {
    return await this.get(await this.beginLogin(gateway, query));
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
  async me({ url }: TeamGateway): Promise<any> {
    const answer = await this.get(`${url}/api/v1/me`);
    return answer.status === 200 ? await answer.json() : answer.status;
  }
}

test("the first login creates a member, and later logins use the same account even with another email address", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  provider.claims = { sub: "u1", email: "ada@example.org", email_verified: true, groups: ["dev"] };
  const browser = new Browser();
  const answer = await browser.login(gateway, "?returnTo=%2Fkeys%3Fa%3D1");
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/keys?a=1"]);
  expect(answer.headers.getSetCookie().join()).toMatch(/metamcp=[\w-]{43};.*HttpOnly; SameSite=Lax/);
  const first = await browser.me(gateway);
  expect(first).toMatchObject({ role: "member", groups: ["dev"], name: "ada@example.org" });
  provider.claims = { sub: "u1", email: "ada@other.org", groups: [] };
  const again = new Browser();
  await again.login(gateway);
  expect(await again.me(gateway)).toMatchObject({ id: first.id, groups: [], name: "ada@other.org" });
  provider.claims = { sub: "u2", email: "ada@other.org" };
  const other = new Browser();
  await other.login(gateway);
  expect((await other.me(gateway)).id).not.toBe(first.id);
});

test("an account with a password is not taken over through its email address", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  const { body } = await gateway.api("POST", "/users", { email: "boss@example.org", role: "admin" });
  provider.claims = { sub: "evil", email: "boss@example.org", email_verified: true };
  const browser = new Browser();
  await browser.login(gateway);
  const me = await browser.me(gateway);
  expect([me.role, me.id === body.uuid]).toEqual(["member", false]);
});

test("at each login groups decide who may log in and who is an administrator", async () => {
  const provider = await identityProvider();
  const flags = [
    "--oidc-groups-claim",
    "realm.roles",
    "--oidc-allow-group",
    "staff",
    "--oidc-admin-group",
    "boss",
  ];
  const gateway = await gatewayAt(provider, ...flags, "--oidc-callback", "/api/auth/oauth2/callback/oidc");
  const as = async (...roles: string[]) => {
    provider.claims = { sub: "u1", email: "ada@example.org", realm: { roles } };
    const browser = new Browser();
    const answer = await browser.login(gateway);
    return { status: answer.status, me: await browser.me(gateway) };
  };
  expect(await as()).toEqual({ status: 403, me: 401 });
  expect(await as("boss")).toEqual({ status: 403, me: 401 });
  expect(await as("staff")).toMatchObject({ me: { role: "member" } });
  const { me } = await as("staff", "boss");
  expect(me.role).toBe("admin");
  expect(await as("staff")).toMatchObject({ me: { role: "member" } });
  await gateway.api("PATCH", `/users/${me.id}`, { role: "editor" });
  expect(await as("staff")).toMatchObject({ me: { role: "editor" } });
  await gateway.api("PATCH", `/users/${me.id}`, { disabled: true });
  // A refused login changes neither role nor groups.
  expect(await as("staff", "boss")).toEqual({ status: 403, me: 401 });
  expect((await gateway.api("GET", `/users/${me.id}`)).body).toMatchObject({
    role: "editor",
    groups: ["staff"],
  });
  expect(provider.exchanged.at(-1)?.get("redirect_uri")).toBe(`${gateway.url}/api/auth/oauth2/callback/oidc`);
});

test("a login requests the scopes that are set, and a refused one says who and why in log and audit", async () => {
  const provider = await identityProvider();
  const flags = ["--oidc-scope", "groups", "--oidc-scope", "email custom:a", "--oidc-allow-group", "staff"];
  const gateway = await gatewayAt(provider, ...flags);
  const there = (await adminFetch(`${gateway.url}/api/v1/login/oidc`, { redirect: "manual" })).headers;
  const asked = new URL(there.get("location") ?? "").searchParams.get("scope");
  expect(asked).toBe("openid email profile groups custom:a");
  provider.claims = { sub: "u1", email: "ada@example.org", groups: ["a", "b"] };
  expect((await new Browser().login(gateway)).status).toBe(403);
  const { body } = await gateway.api("POST", "/users", { email: "bob@example.org", role: "member" });
  const ask = apiClient(gateway.url);
  await ask("POST", "/login", { email: "bob@example.org", password: "not his password" });
  await ask("POST", "/login", { email: "my secret password", password: "x" });
  await ask("POST", "/login", { email: "eve@example.org", password: "no such person" });
  await gateway.api("PATCH", `/users/${body.uuid}`, { disabled: true });
  await ask("POST", "/login", { email: "bob@example.org", password: "not his password" });
  const records = await auditRecords(gateway, "&kind=login", 5);
  const told = records.map(({ action, reason, tried }) => ({ action, reason, tried }));
  expect(told).toEqual([
    {
      action: "oidc",
      reason: 'none of the 2 groups in the claim "groups" is one of --oidc-allow-group',
      tried: { subject: "u1", email: "ada@example.org", groups: 2 },
    },
    { action: "password", reason: "the account has no password", tried: { email: "bob@example.org" } },
    { action: "password", reason: "there is no such account", tried: undefined },
    { action: "password", reason: "there is no such account", tried: { email: "eve@example.org" } },
    { action: "password", reason: "the account is disabled", tried: { email: "bob@example.org" } },
  ]);
  for (const text of [
    "ada@example.org, subject u1, 2 groups refused: none of",
    "eve@example.org refused: there is",
  ])
    expect(gateway.stderr).toContain(text);
  expect(gateway.stderr + JSON.stringify(records)).not.toMatch(
    /secret password|not his password|Unsupported runtime/,
  );
});

test("groups that are missing in the id token are fetched from userinfo", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider, "--oidc-allow-group", "staff");
  provider.claims = { sub: "u1", email: "ada@example.org" };
  provider.userinfo = { sub: "u1", groups: ["staff"] };
  const browser = new Browser();
  await browser.login(gateway);
  expect(await browser.me(gateway)).toMatchObject({ groups: ["staff"] });
  provider.userinfo = { sub: "somebody else", groups: ["staff"] };
  expect((await new Browser().login(gateway)).status).toBe(403);
});

test("a callback is rejected in another browser, if it was changed, and if it was used before", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  provider.claims = { sub: "victim", email: "v@example.org" };
  const [attacker, victim] = [new Browser(), new Browser()];
  const theirs = await attacker.beginLogin(gateway);
  expect((await victim.get(theirs)).status).toBe(403);
  await victim.beginLogin(gateway);
  expect((await victim.get(theirs)).status).toBe(403);
  expect(await victim.me(gateway)).toBe(401);
  const own = await victim.beginLogin(gateway);
  const changed = (name: string, value: string) => {
    const url = new URL(own);
    url.searchParams.set(name, value);
    return url.href;
  };
  for (const url of [
    changed("state", "x"),
    changed("iss", "http://evil.test"),
    changed("error", "access_denied"),
    `${gateway.url}${CALLBACK}`,
  ]) {
    const fresh = new Browser();
    await fresh.beginLogin(gateway);
    expect((await fresh.get(url)).status, url).toBe(403);
  }
  const browser = new Browser();
  const back = await browser.beginLogin(gateway);
  expect((await browser.get(back)).status).toBe(302);
  expect((await browser.get(back)).status).toBe(403);
});

function without(claims: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
}

test("an id token that is forged, expired or issued for others is rejected", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  const invalidTokens: readonly IdentityProvider["spoil"][] = [
    { wrongKey: true },
    { unsigned: true },
    { claims: (claims) => ({ ...claims, nonce: "another" }) },
    { claims: (claims) => without(claims, "nonce") },
    { claims: (claims) => ({ ...claims, aud: "somebody else" }) },
    { claims: (claims) => ({ ...claims, iss: "http://evil.test" }) },
    { claims: (claims) => ({ ...claims, exp: 1 }) },
    { claims: (claims) => without(claims, "sub") },
  ];
  for (const [at, spoil] of invalidTokens.entries()) {
    provider.spoil = spoil;
    const browser = new Browser();
    expect((await browser.login(gateway)).status, `case ${at}`).toBe(403);
    expect(await browser.me(gateway)).toBe(401);
  }
  expect((await gateway.api("GET", "/users")).body.items).toEqual([]);
});

function withHeader(token: string, alg: string): string {
  const header = Buffer.from(JSON.stringify({ alg, typ: "logout+jwt" })).toString("base64url");
  return `${header}.${token.split(".")[1]}`;
}

const unsigned = (token: string): string => `${withHeader(token, "none")}.`;

/** The client secret is known to more people than the keys of the provider. */
function signedWithSecret(token: string): string {
  const text = withHeader(token, "HS256");
  return `${text}.${createHmac("sha256", OIDC_CLIENT.secret).update(text).digest("base64url")}`;
}

test("the provider ends logins here by logout tokens, each once, and only by valid ones", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  const logIn = async (sub: string, sid: string) => {
    provider.claims = { sub, email: `${sub}@example.org`, sid };
    const browser = new Browser();
    await browser.login(gateway);
    return browser;
  };
  const send = async (logout_token: string) => {
    const body = new URLSearchParams({ logout_token });
    const answer = await fetch(`${gateway.url}/oauth/backchannel-logout`, { method: "POST", body });
    return [answer.status, answer.headers.get("cache-control")?.includes("no-store")];
  };
  const [ada, elsewhere, bob] = [
    await logIn("ada", "s1"),
    await logIn("ada", "s2"),
    await logIn("bob", "s3"),
  ];
  const sees = async () =>
    await Promise.all([ada, elsewhere, bob].map(async (one) => (await one.me(gateway)) !== 401));
  const now = Math.floor(Date.now() / 1_000);
  const invalid = [
    provider.logoutToken({ sub: "ada" }, { wrongKey: true }),
    provider.logoutToken({ sub: "ada", aud: "somebody else" }),
    provider.logoutToken({ sub: "ada", iss: "http://evil.test" }),
    provider.logoutToken({ sub: "ada", iat: now - 3_600, exp: now + 60 }),
    provider.logoutToken({ sub: "ada", iat: undefined }),
    provider.logoutToken({ sub: "ada", exp: now - 300 }),
    provider.logoutToken({ sub: "ada", jti: undefined }),
    provider.logoutToken({ sub: "ada", events: undefined }),
    provider.logoutToken({ sub: "ada", events: { other: {} } }),
    provider.logoutToken({ sub: "ada", events: { [LOGOUT_EVENT]: "x" } }),
    provider.logoutToken({ sub: "ada", nonce: "n" }),
    provider.logoutToken({}),
    provider.logoutToken({ sid: 7 }),
    provider.logoutToken({ sub: "ada" }).then(unsigned),
    provider.logoutToken({ sub: "ada" }).then(signedWithSecret),
    Promise.resolve(""),
    Promise.resolve("not.a.token"),
  ];
  for (const [at, token] of invalid.entries())
    expect(await send(await token), `case ${at}`).toEqual([400, true]);
  expect(await sees()).toEqual([true, true, true]);
  const one = await provider.logoutToken({ sub: "ada", sid: "s1" });
  expect(await send(one)).toEqual([200, true]);
  expect(await sees()).toEqual([false, true, true]);
  expect(await send(one)).toEqual([400, true]);
  expect(await send(await provider.logoutToken({ sid: "s3" }, { typ: "JWT" }))).toEqual([200, true]);
  expect(await sees()).toEqual([false, true, false]);
  // A person who is not known here is no error.
  expect(await send(await provider.logoutToken({ sub: "carol" }))).toEqual([200, true]);
  expect(await send(await provider.logoutToken({ sub: "ada" }))).toEqual([200, true]);
  expect(await sees()).toEqual([false, false, false]);
  expect((await fetch(`${gateway.url}/oauth/backchannel-logout`)).status).toBe(400);
});

test("a logout also ends the session at the provider, and a password login has none there", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  provider.claims = { sub: "ada", email: "ada@example.org" };
  const browser = new Browser();
  await browser.login(gateway);
  const answer = await browser.get(`${gateway.url}/api/v1/logout`, { method: "POST", origin: gateway.url });
  const url = new URL(((await answer.json()) as { url: string }).url);
  expect(url.origin + url.pathname).toBe(`${provider.issuer}/end`);
  expect(url.searchParams.get("id_token_hint")?.split(".")).toHaveLength(3);
  expect(await browser.me(gateway)).toBe(401);
  expect((await gateway.api("POST", "/logout")).status).toBe(204);
});

test("OAuth clients of a person who lost the groups get no new tokens, and keys stop until the next login", async () => {
  const provider = await identityProvider();
  provider.refreshes = true;
  const gateway = await gatewayAt(provider, "--oidc-allow-group", "staff");
  await gateway.api("POST", "/namespaces", { name: "team", servers: [] });
  await gateway.api("POST", "/endpoints", { name: "one", namespaces: ["team"] });
  provider.claims = { sub: "ada", email: "ada@example.org", groups: ["staff"] };
  const browser = new Pages();
  const client = new OAuthClient(gateway.url, { browser });
  await client.register();
  const logIn = async () => {
    const there = await browser.open(`${gateway.url}/api/v1/login/oidc`);
    await browser.open((await browser.open(there.url)).url);
  };
  await logIn();
  const back = await client.logIn({ email: "", password: "" });
  let tokens = (await client.exchange(back.url.searchParams.get("code") ?? "")).body;
  const [ada] = (await gateway.api("GET", "/users")).body.items;
  const { key } = (await gateway.api("POST", "/api-keys", { name: "k", endpoints: "all", owner: ada.uuid }))
    .body;
  const status = async (token: string) => (await mcp(gateway, "one", { token })).status;
  tokens = (await client.refresh(tokens.refresh_token)).body;
  expect([await status(tokens.access_token), await status(key)]).toEqual([200, 200]);
  provider.claims = { sub: "ada", email: "ada@example.org", groups: [] };
  expect((await client.refresh(tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect([await status(tokens.access_token), await status(key)]).toEqual([401, 401]);
  const { body } = await gateway.api("GET", `/users/${ada.uuid}`);
  expect(body).toMatchObject({ disabled: true, suspended: true });
  provider.claims = { sub: "ada", email: "ada@example.org", groups: ["staff"] };
  await logIn();
  expect([await status(tokens.access_token), await status(key)]).toEqual([401, 200]);
  expect(gateway.stderr).toContain("access of ada@example.org ended: none of the groups");
});

test("passwords can be turned off where there is an identity provider, and keys can be limited in time", async () => {
  const provider = await identityProvider();
  const [gateway, alone] = [await gatewayAt(provider), await teamGateway(temp())];
  for (const { url, api } of [gateway, alone]) {
    const { body } = await api("POST", "/users", { email: "bob@example.org", role: "member" });
    const invitation = new URL(body.invitation.url).pathname;
    const ask = apiClient(url);
    const bob = { email: "bob@example.org", password: "correct horse battery" };
    expect((await ask("POST", invitation, { password: bob.password })).status).toBe(200);
    const other = (await api("POST", "/users", { email: "eve@example.org", role: "member" })).body;
    expect((await api("PATCH", "/settings", { passwords: "off", keyLifetimeDays: 30 })).status).toBe(200);
    const off = url === gateway.url;
    const next = new URL(other.invitation.url).pathname;
    expect((await ask("POST", next, { password: bob.password })).status).toBe(off ? 403 : 200);
    expect((await ask("POST", "/login", bob)).status).toBe(off ? 403 : 200);
    expect((await ask("GET", "/login")).body).toMatchObject({ passwords: !off });
    const page = await new Pages().open(`${url}/oauth/logins/mail`);
    expect(page.text.includes('type="password"')).toBe(!off);
    // A form that was loaded before.
    const sent = await new Pages().submit(page, { action: "login", ...bob });
    expect(sent.text.includes("Passwords are turned off")).toBe(off);
    const client = new OAuthClient(url);
    await client.register();
    expect((await new Pages().open(client.authorizeUrl())).text.includes('type="password"')).toBe(!off);
  }
  const { api } = gateway;
  const create = (more: object) => api("POST", "/api-keys", { name: "k", endpoints: "all", ...more });
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60_000).toISOString();
  const { expiresAt } = (await create({})).body;
  expect(expiresAt > inDays(29) && expiresAt <= inDays(30)).toBe(true);
  expect((await create({ expiresAt: inDays(31) })).status).toBe(422);
  expect((await create({ expiresAt: inDays(29) })).status).toBe(201);
});

test("without passwords there is no setup by the printed code", async () => {
  const provider = await identityProvider();
  const folder = temp();
  const document = folder.write("gateway.yaml", 'version: 1\nsettings: { passwords: "off" }\n');
  const flags = ["--oidc-issuer", provider.issuer, "--oidc-client-id", OIDC_CLIENT.id];
  const env = { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret, METAMCP_ADMIN_TOKEN: "" };
  const before = await teamGateway(folder, { flags, env });
  const code = /setup\?code=(\S+)/.exec(before.stderr)?.[1] ?? "";
  expect((await apiClient(before.url)("GET", "/login")).body).toMatchObject({ setup: true });
  await before.stop();
  // The code was printed before passwords were turned off.
  const after = await teamGateway(folder, { flags: [...flags, "--apply", document], env });
  expect(after.stderr).not.toContain("setup?code=");
  await until(() => after.stderr.includes("there is no administrator, and passwords are turned off"));
  const ask = apiClient(after.url);
  const eve = { code, email: "eve@example.org", password: "correct horse battery" };
  expect((await ask("POST", "/setup", eve)).status).toBe(403);
  expect((await ask("GET", "/login")).body).toMatchObject({ setup: false, passwords: false });
});

test("a login redirects only to pages of the gateway", async () => {
  const provider = await identityProvider();
  const gateway = await gatewayAt(provider);
  for (const evil of [
    "https://evil.test/",
    "//evil.test",
    "/\\evil.test",
    "\\\\evil.test",
    "javascript:alert(1)",
    "/a//../..//evil.test",
    "/.//evil.test",
  ]) {
    const answer = await new Browser().login(gateway, `?returnTo=${encodeURIComponent(evil)}`);
    const at = new URL(answer.headers.get("location") ?? "", gateway.url);
    expect(at.origin, evil).toBe(gateway.url);
  }
});

test("without a provider the login does not exist, and an unreachable provider gives 503", async () => {
  const none = await teamGateway(temp());
  expect((await adminFetch(`${none.url}/api/v1/login/oidc`, { redirect: "manual" })).status).toBe(404);
  expect((await none.api("GET", "/login")).body).toMatchObject({ oidc: false, setup: false });
  const flags = ["--oidc-issuer", "http://127.0.0.1:9", "--oidc-client-id", "x"];
  const gateway = await teamGateway(temp(), { flags });
  expect((await gateway.api("GET", "/login")).body).toMatchObject({ oidc: true, setup: false });
  expect((await adminFetch(`${gateway.url}/api/v1/login/oidc`, { redirect: "manual" })).status).toBe(503);
});
