/** Tokens of external issuers: which ones are accepted, and all that must be rejected. */

import { createHmac, createPublicKey } from "node:crypto";
import { type JWK, SignJWT } from "jose";
import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { mcp } from "../../support/mcp-request.ts";
import { ADA, grantedClient, oauthTeam } from "../../support/oauth-team.ts";
import { newKey, tokenIssuer } from "../../support/token-issuer.ts";

async function federated() {
  const issuer = await tokenIssuer();
  const team = await oauthTeam();
  const set = (more: object = {}) =>
    team.api("PATCH", "/settings", {
      issuers: [{ issuer: issuer.url, algorithms: ["RS256"], groupsClaim: "groups", ...more }],
    });
  expect((await set()).status).toBe(200);
  const aud = `${team.url}/metamcp/one/mcp`;
  const status = async (token: string, endpoint = "one") => (await mcp(team, endpoint, { token })).status;
  return { ...team, team, issuer, set, aud, status };
}

test("a subject of an external issuer gets an account with its first request", async () => {
  const { issuer, aud, status, api, team, url } = await federated();
  const email = { email: "carol@example.org", email_verified: true };
  const token = await issuer.token({ aud, ...email, groups: ["dev"] });
  const first = await mcp(team, "one", { token });
  expect(first.status).toBe(200);
  const list = async () =>
    (await api("GET", "/users")).body.items.filter((user: { email: string }) => user.email === email.email);
  const [carol, ...more] = await list();
  expect(more).toEqual([]);
  expect(carol).toMatchObject({ role: "member", groups: ["dev"], disabled: false });
  // Another token of the same client can continue the session.
  const renewed = await issuer.token({ aud, ...email, groups: ["dev"], jti: "another" });
  const session = first.headers.get("mcp-session-id") ?? "";
  expect((await mcp(team, "one", { token: renewed, session })).status).toBe(200);
  const { body } = await api("GET", "/endpoints");
  const one = body.items.find(({ name }: { name: string }) => name === "one");
  await api("PATCH", `/endpoints/${one.uuid}`, { access: { allow: { groups: ["ops"] } } });
  expect(await status(token)).toBe(404);
  expect(await status(await issuer.token({ aud, groups: ["ops"] }))).toBe(200);
  expect(await list()).toHaveLength(1);
  const headers = { authorization: `Bearer ${token}` };
  expect((await adminFetch(`${url}/api/v1/me`, { headers })).status).toBe(401);
  await api("PATCH", `/users/${carol.uuid}`, { disabled: true });
  expect(await status(renewed)).toBe(401);
  expect(await status(await issuer.token({ aud, groups: ["ops"], jti: "later" }))).toBe(401);
});

test("a token must be signed, valid now, and issued for this endpoint", async () => {
  const { issuer, aud, status, team } = await federated();
  const now = Math.floor(Date.now() / 1_000);
  const wrong = [
    { aud, exp: now - 60 },
    { aud, exp: undefined },
    { aud, nbf: now + 600 },
    { aud, sub: undefined },
    { aud: team.url },
    { aud: `${team.url}/metamcp/two/mcp` },
    { aud: `${aud}/` },
    {},
    { aud, iss: "https://nobody.test" },
    { aud, iss: team.url },
    { aud, iss: `${issuer.url}/` },
  ];
  for (const claims of wrong)
    expect(await status(await issuer.token(claims)), JSON.stringify(claims)).toBe(401);
  expect(await status(await issuer.token({ aud: [aud, "https://other.test"] }))).toBe(200);
  const weak = await mcp(team, "one", { token: await issuer.token({ aud, scope: "other" }) });
  expect(weak.status).toBe(403);
  expect(weak.headers.get("www-authenticate")).toMatch(/error="insufficient_scope".*scope="mcp"/);
  // The answer does not reveal whether the endpoint exists.
  const never = `${team.url}/metamcp/never/mcp`;
  expect(await status(await issuer.token({ aud: never, scope: "other" }), "never")).toBe(403);
  expect(await status(await issuer.token({ aud: never }), "never")).toBe(404);
});

test("a token with an unlisted algorithm or with its own key is rejected", async () => {
  const { issuer, aud, status, set } = await federated();
  const good = await issuer.token({ aud });
  expect(await status(good)).toBe(200);
  const [, payload = ""] = good.split(".");
  const written = (header: object) => Buffer.from(JSON.stringify(header)).toString("base64url");
  const none = `${written({ alg: "none" })}.${payload}.`;
  expect(await status(none)).toBe(401);
  expect(await status(`${written({ alg: "none" })}.${payload}.AAAA`)).toBe(401);
  // The public key used as a shared secret.
  const known = issuer.keys[0]?.public as JWK;
  const pem = createPublicKey({ key: known as never, format: "jwk" }).export({ type: "spki", format: "pem" });
  const signed = `${written({ alg: "HS256", kid: known.kid })}.${payload}`;
  const mac = createHmac("sha256", pem).update(signed).digest("base64url");
  expect(await status(`${signed}.${mac}`)).toBe(401);
  await set({ algorithms: ["RS256", "HS256"] }).then(({ status: refused }) => expect(refused).toBe(422));
  const elliptic = await issuer.addKey("ES256", "elliptic");
  expect(await status(await issuer.token({ aud }, { key: elliptic }))).toBe(401);
  const theirs = await newKey("RS256", "theirs");
  const attacker = await tokenIssuer();
  attacker.keys.splice(0, 1, theirs);
  for (const header of [
    { jwk: theirs.public },
    { jku: `${attacker.url}/keys` },
    { x5u: `${attacker.url}/keys` },
    { kid: known.kid ?? "", jwk: theirs.public },
  ])
    expect(await status(await issuer.token({ aud }, { key: theirs, header }))).toBe(401);
  expect(attacker.requestCount).toBe(0);
});

test("a token with our own issuer name and another key is rejected", async () => {
  const { team, aud, status, issuer } = await federated();
  const { tokens } = await grantedClient(team, ADA);
  expect(await status(tokens.access_token)).toBe(200);
  const [header = "", payload = "", signature = ""] = tokens.access_token.split(".");
  const forged = await new SignJWT({ ...JSON.parse(Buffer.from(payload, "base64url").toString()), aud })
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt" })
    .sign((await newKey("ES256")).private);
  expect(await status(forged)).toBe(401);
  const changed = Buffer.from(payload, "base64url").toString().replace("/one/", "/two/");
  const moved = `${header}.${Buffer.from(changed).toString("base64url")}.${signature}`;
  expect(await status(moved, "two")).toBe(401);
  // Our claims signed by the external issuer are rejected too.
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  expect(await status(await issuer.token(claims))).toBe(401);
});

test("an issuer is asked for unknown keys at most every 30 seconds, and its tokens are rejected once it is removed", async () => {
  const { issuer, aud, status, api } = await federated();
  const token = await issuer.token({ aud });
  expect(await status(token)).toBe(200);
  const asked = issuer.requestCount;
  for (let count = 0; count < 5; count += 1)
    expect(await status(await issuer.token({ aud }, { header: { kid: `unknown ${count}` } }))).toBe(401);
  expect(issuer.requestCount).toBe(asked);
  await api("PATCH", "/settings", { issuers: [] });
  expect(await status(token)).toBe(401);
});

test("a rule matches neither an unverified email address nor a personal key by its name", async () => {
  const { issuer, aud, api, team } = await federated();
  const { items } = (await api("GET", "/endpoints")).body;
  const one = items.find(({ name }: { name: string }) => name === "one");
  const rules = [
    { effect: "allow", who: { users: ["Carol@example.org"] } },
    { effect: "allow", who: { keys: ["deploy"] } },
  ];
  const changed = { surface: "aggregate", middleware: [{ use: "policy", rules }] };
  expect((await api("PATCH", `/endpoints/${one.uuid}`, changed)).status).toBe(200);
  const sees = async (credentials: Parameters<typeof mcp>[2]) => {
    const session = (await mcp(team, "one", credentials)).headers.get("mcp-session-id") ?? "";
    return /"inputSchema"/.test((await mcp(team, "one", { ...credentials, session })).text);
  };
  const token = (email_verified: boolean, sub: string) =>
    issuer.token({ aud, sub, email: "carol@example.org", email_verified });
  expect(await sees({ token: await token(true, "carol") })).toBe(true);
  expect(await sees({ token: await token(false, "eve") })).toBe(false);
  const keyOf = async (more: object) => {
    const { key } = (await api("POST", "/api-keys", { name: "deploy", endpoints: "all", ...more })).body;
    return { headers: { "x-api-key": key } };
  };
  expect(await sees(await keyOf({}))).toBe(true);
  expect(await sees(await keyOf({ owner: ADA.email }))).toBe(false);
});

test("a token for others, or without the scope, creates no account and changes no groups", async () => {
  const { issuer, aud, status, api, team } = await federated();
  const people = async () =>
    (await api("GET", "/users")).body.items
      .filter(({ identity }: { identity?: object }) => identity)
      .map(({ email, groups }: { email: string; groups: string[] }) => ({ email, groups }));
  const foreign = { aud: "https://another-service.test", groups: ["vip"] };
  const two = await issuer.token({ aud: `${team.url}/metamcp/two/mcp`, groups: ["staff"] });
  const weak = { aud, scope: "other", groups: ["vip"] };
  expect(await status(await issuer.token(foreign))).toBe(401);
  expect(await status(await issuer.token(weak))).toBe(403);
  expect(await status(two)).toBe(401);
  expect(await people()).toEqual([]);
  // The same token is valid at its own endpoint, although it was refused at another.
  expect(await status(two, "two")).toBe(200);
  expect(await people()).toEqual([{ email: "carol", groups: ["staff"] }]);
  expect(await status(await issuer.token({ ...foreign, jti: "later" }))).toBe(401);
  expect(await status(await issuer.token({ ...weak, jti: "later" }))).toBe(403);
  // Names that are no endpoint, or one that takes no tokens, get the same answer and leave no trace.
  for (const name of ["never", "closed", "off"]) {
    const there = { aud: `${team.url}/metamcp/${name}/mcp`, groups: ["vip"] };
    expect(await status(await issuer.token(there), name)).toBe(404);
    expect(await status(await issuer.token({ ...there, sub: "mallory" }), name)).toBe(404);
  }
  expect(await people()).toEqual([{ email: "carol", groups: ["staff"] }]);
  const [carol] = (await api("GET", "/users?q=carol")).body.items;
  await api("PATCH", `/users/${carol.uuid}`, { disabled: true });
  expect(await status(await issuer.token({ aud, groups: ["vip"], jti: "disabled" }))).toBe(401);
  expect(await people()).toEqual([{ email: "carol", groups: ["staff"] }]);
});

test("removing an issuer ends the streams and calls that its tokens opened, and no others", async () => {
  const { issuer, aud, api, team, url } = await federated();
  const other = await tokenIssuer();
  const trusted = (...all: { url: string }[]) =>
    api("PATCH", "/settings", {
      issuers: all.map(({ url }) => ({ issuer: url, algorithms: ["RS256"] })),
    });
  await trusted(issuer, other);
  const ask = async (token: string) => {
    const session = (await mcp(team, "one", { token })).headers.get("mcp-session-id") ?? "";
    const headers = { ...HEADERS, authorization: `Bearer ${token}`, "mcp-session-id": session };
    const stream = await fetch(`${url}/metamcp/one/mcp`, { headers });
    const params = { name: "fix__hang", arguments: {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const call = await fetch(`${url}/metamcp/one/mcp`, { method: "POST", headers, body });
    return [stream, call].map((response) => response.text());
  };
  const { tokens } = await grantedClient(team, ADA);
  const removed = await ask(await issuer.token({ aud }));
  const others = [await ask(await other.token({ aud })), await ask(tokens.access_token)].flat();
  let ended = 0;
  for (const open of others) void open.finally(() => (ended += 1)).catch(() => {});
  expect((await trusted(other)).status).toBe(200);
  const [stream, call] = await Promise.all(removed);
  expect([stream, call].join()).toContain("credentials");
  expect(ended).toBe(0);
  expect((await trusted()).status).toBe(200);
  await Promise.all(others.slice(0, 2));
  expect(ended).toBe(2);
});
