/** Machine clients: who gets tokens with `client_credentials`, and what the tokens open. */
import { createHmac, randomUUID } from "node:crypto";
import {
  Client,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { exportPKCS8, exportSPKI } from "jose";
import { expect, test } from "vitest";
import { askForToken, resourceOf, secretMachine, signingMachine } from "../../support/machine-client.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { ADA, BOB, oauthTeam } from "../../support/oauth-team.ts";
import { apiClient, cookieIn } from "../../support/people.ts";
import { shared } from "../../support/shared.ts";
import { until } from "../../support/until.ts";

const team = shared(() => oauthTeam());

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

/** Status of a request with this token. */
async function use(token: string, endpoint = "one"): Promise<number> {
  const response = await fetch(resourceOf(team().url, endpoint), {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      ...LIST,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "m", version: "1" } },
    }),
  });
  await response.body?.cancel();
  return response.status;
}

function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
}

test("the metadata name the grant and the ways to prove a client", async () => {
  const metadata = await (await fetch(`${team().url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({
    grant_types_supported: expect.arrayContaining(["client_credentials"]),
    token_endpoint_auth_methods_supported: expect.arrayContaining([
      "client_secret_basic",
      "client_secret_post",
      "private_key_jwt",
    ]),
    token_endpoint_auth_signing_alg_values_supported: ["RS256", "ES256", "EdDSA"],
  });
});

test("a secret gets a short-lived token for one endpoint", async () => {
  const { url } = team();
  const machine = await secretMachine(team());
  const { status, body } = await machine.token("one");
  expect([status, body.expires_in]).toEqual([200, 600]);
  expect(body).not.toHaveProperty("refresh_token");
  expect(await use(body.access_token ?? "")).toBe(200);
  expect(await use(body.access_token ?? "", "two")).toBe(401);
  const byHeader = await askForToken(
    url,
    { resource: resourceOf(url, "one") },
    basic(machine.id, machine.secret),
  );
  expect(byHeader.status).toBe(200);
});

test.each(["ES256", "RS256"] as const)("a signature with %s gets a token", async (alg) => {
  const machine = await signingMachine(team(), { alg });
  expect(machine.made.body).not.toHaveProperty("key");
  const { status, body } = await machine.tokenBy(await machine.assertion());
  expect(status).toBe(200);
  expect(await use(body.access_token ?? "")).toBe(200);
  const { api } = team();
  expect((await api("POST", `/api-keys/${machine.id}/rotate`, {})).status).toBe(409);
});

test("the secret opens nothing by itself, and no other credential gets a token", async () => {
  const { url, api } = team();
  const machine = await secretMachine(team());
  const other = await secretMachine(team());
  const key = (await api("POST", "/api-keys", { name: "plain", endpoints: "all" })).body;
  expect(await use(machine.secret)).toBe(401);
  const admin = await fetch(`${url}/api/v1/api-keys`, { headers: { "x-api-key": machine.secret } });
  expect(admin.status).toBe(401);
  const resource = resourceOf(url, "one");
  const wrong = [
    { client_id: machine.id, client_secret: other.secret },
    { client_id: machine.id, client_secret: "x" },
    { client_id: machine.id },
    { client_id: key.uuid, client_secret: key.key },
    { client_id: randomUUID(), client_secret: machine.secret },
  ];
  for (const given of wrong)
    expect(await askForToken(url, { ...given, resource })).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
});

test("a machine gets no token for endpoints that are not its own, and cannot tell which exist", async () => {
  const { url, api } = team();
  const machine = await secretMachine(team(), { endpoints: ["two"] });
  expect((await machine.token("two")).status).toBe(200);
  const answers = await Promise.all(["one", "ours", "off", "closed", "nowhere"].map(machine.token));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 400, body: { error: "invalid_target" } });
  const bare = { client_id: machine.id, client_secret: machine.secret };
  expect((await askForToken(url, bare)).body.error).toBe("invalid_target");
  const elsewhere = { ...bare, resource: "https://elsewhere.example/metamcp/two/mcp" };
  expect((await askForToken(url, elsewhere)).body.error).toBe("invalid_target");

  await api("POST", "/endpoints", { name: "brief", namespaces: ["team"] });
  const roaming = await secretMachine(team());
  const token = (await roaming.token("brief")).body.access_token ?? "";
  expect(await use(token, "brief")).toBe(200);
  await api("DELETE", "/endpoints/brief");
  await api("POST", "/endpoints", { name: "brief", namespaces: ["team"] });
  expect(await use(token, "brief")).toBe(401);
});

test("of the same assertion only the first use counts, also of several at once", async () => {
  const machine = await signingMachine(team());
  const text = await machine.assertion();
  const answers = await Promise.all(Array.from({ length: 6 }, () => machine.tokenBy(text)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await machine.tokenBy(text)).body.error).toBe("invalid_client");
  const jti = randomUUID();
  expect((await machine.tokenBy(await machine.assertion({ jti }))).status).toBe(200);
  expect((await machine.tokenBy(await machine.assertion({ jti, iat: 1 }))).status).toBe(401);
});

test("an assertion must be signed by the client, for this gateway, and be valid now", async () => {
  const { url } = team();
  const machine = await signingMachine(team());
  const stranger = await signingMachine(team());
  const rsa = await signingMachine(team(), { alg: "RS256" });
  const now = Math.floor(Date.now() / 1_000);
  const wrongClaims = [
    { aud: "https://elsewhere.example" },
    { aud: resourceOf(url, "one") },
    { aud: undefined },
    { iss: stranger.id },
    { sub: stranger.id },
    { exp: now - 60 },
    { exp: now + 24 * 3_600 },
    { exp: undefined },
    { jti: undefined },
    { nbf: now + 600 },
  ];
  for (const claims of wrongClaims)
    expect([claims, (await machine.tokenBy(await machine.assertion(claims))).status]).toEqual([claims, 401]);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: rsa.id, sub: rsa.id, aud: url, jti: randomUUID(), exp: now + 60 };
  const unsigned = `${part({ alg: "none" })}.${part(claims)}.`;
  const hs = `${part({ alg: "HS256", kid: "one" })}.${part({ ...claims, jti: randomUUID() })}`;
  const pem = await exportSPKI(rsa.pair.publicKey);
  const forged = [pem, JSON.stringify(rsa.publicKey)].map(
    (secret) => `${hs}.${createHmac("sha256", secret).update(hs).digest("base64url")}`,
  );
  const mixed = await machine.assertion({ iss: rsa.id, sub: rsa.id });
  for (const text of [unsigned, ...forged, mixed, "x.y.z", ""])
    expect([400, 401]).toContain((await rsa.tokenBy(text)).status);
  // The public key is no secret.
  const shown = { client_id: rsa.id, client_secret: JSON.stringify(rsa.publicKey) };
  expect((await askForToken(url, { ...shown, resource: resourceOf(url, "one") })).status).toBe(401);
  expect((await rsa.tokenBy(await rsa.assertion())).status).toBe(200);
});

test("a token ends at once with its client, and with the right of the client", async () => {
  const { api } = team();
  const machine = await secretMachine(team());
  const token = (await machine.token("one")).body.access_token ?? "";
  expect(await use(token)).toBe(200);
  const audit = await api("GET", `/audit?key=${machine.id}&limit=1`);
  expect(audit.status).toBe(200);
  await api("DELETE", `/api-keys/${machine.id}`);
  expect(await use(token)).toBe(401);
  expect((await machine.token("one")).body.error).toBe("invalid_client");

  const late = await secretMachine(team());
  await api("POST", "/endpoints", { name: "later", namespaces: ["team"] });
  const second = (await late.token("later")).body.access_token ?? "";
  expect(await use(second, "later")).toBe(200);
  await api("PATCH", "/endpoints/later", { access: { keys: false } });
  expect(await use(second, "later")).toBe(200);
  await api("PATCH", "/endpoints/later", { access: { oauth: false } });
  expect(await use(second, "later")).toBe(404);
});

test("a token opens nothing but its endpoint", async () => {
  const { url } = team();
  const machine = await secretMachine(team(), { endpoints: ["one", "two"] });
  const token = (await machine.token("one")).body.access_token ?? "";
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ["/api/v1/api-keys", "/api/v1/me", "/api/v1/events"])
    expect([path, (await fetch(`${url}${path}`, { headers })).status]).toEqual([path, 401]);
  expect((await fetch(`${url}/api/v1/me`, { headers: { "x-api-key": token } })).status).toBe(401);
  expect(await use(token)).toBe(200);
  expect(await use(token, "two")).toBe(401);
});

test("a new secret works beside the former one for the time of the overlap, and public keys can change", async () => {
  const { api, url } = team();
  const machine = await secretMachine(team());
  const rotated = await api("POST", `/api-keys/${machine.id}/rotate`, { overlapHours: 1 });
  const ask = (client_secret: string) =>
    askForToken(url, { client_id: machine.id, client_secret, resource: resourceOf(url, "one") });
  expect((await ask(machine.secret)).status).toBe(200);
  expect((await ask(rotated.body.key)).status).toBe(200);
  const last = await api("POST", `/api-keys/${machine.id}/rotate`, { overlapHours: 0 });
  expect((await ask(rotated.body.key)).status).toBe(401);
  expect((await ask(machine.secret)).status).toBe(401);
  expect((await ask(last.body.key)).status).toBe(200);

  const signing = await signingMachine(team());
  const next = await signingMachine(team());
  const path = `/api-keys/${signing.id}`;
  const keys = [{ ...next.publicKey, kid: "two" }];
  expect((await api("PATCH", path, { machine: { jwks: { keys } } })).status).toBe(200);
  expect((await signing.tokenBy(await signing.assertion())).status).toBe(401);
  expect((await api("PATCH", path, { machine: {} })).status).toBe(422);
  expect((await api("PATCH", `/api-keys/${machine.id}`, { machine: { jwks: { keys } } })).status).toBe(422);
});

test("a machine client has public keys at public addresses, and endpoints instead of a role", async () => {
  const { api } = team();
  const { publicKey } = await signingMachine(team());
  const create = (machine: unknown, more: object = { endpoints: "all" }) =>
    api("POST", "/api-keys", { name: "bad", machine, ...more });
  const jwks = { keys: [publicKey] };
  const uris = [
    "http://keys.example/jwks",
    "https://127.0.0.1/jwks",
    "https://localhost/jwks",
    "https://10.1.2.3/jwks",
    "https://[::ffff:169.254.169.254]/jwks",
    "https://user:word@keys.example/jwks",
    "file:///etc/passwd",
    "x",
  ];
  const bad = [
    { jwks: { keys: [{ ...publicKey, d: "x" }] } },
    { jwks: { keys: [{ kty: "oct", k: "x" }] } },
    { jwks: { keys: [] } },
    { jwks, jwksUri: "https://keys.example/jwks" },
    ...uris.map((jwksUri) => ({ jwksUri })),
  ];
  for (const machine of bad) expect([machine, (await create(machine)).status]).toEqual([machine, 422]);
  expect((await create({}, { role: "admin" })).status).toBe(422);
  expect((await create({ jwksUri: "https://keys.example/jwks" })).status).toBe(201);
});

test("a client that registers itself gets no tokens for itself", async () => {
  const { url } = team();
  const machine = await secretMachine(team());
  const client = new OAuthClient(url);
  const more = {
    client_id: machine.id,
    grant_types: ["client_credentials", "authorization_code"],
    token_endpoint_auth_method: "client_secret_post",
    metamcp: true,
  };
  const { body } = await client.register(more);
  expect(body.client_id).not.toBe(machine.id);
  const given = { client_id: body.client_id, client_secret: body.client_secret };
  const answer = await askForToken(url, { ...given, resource: resourceOf(url, "one") });
  expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  // And a machine cannot ask for the login of a person.
  const page = await fetch(
    client.authorizeUrl({ client_id: machine.id, redirect_uri: "https://client.test/callback" }),
    { redirect: "manual" },
  );
  expect([page.status, page.headers.get("location")]).toEqual([400, null]);
});

test("official clients find the way by themselves; rules and the audit log know the machine by its name", async () => {
  const { url, api } = team();
  const secret = await secretMachine(team(), { name: "nightly", tiers: ["readOnly"] });
  const signing = await signingMachine(team(), { name: "signer" });
  const providers = [
    new ClientCredentialsProvider({
      clientId: secret.id,
      clientSecret: secret.secret,
      expectedIssuer: url,
    }),
    new PrivateKeyJwtProvider({
      clientId: signing.id,
      privateKey: await exportPKCS8(signing.pair.privateKey),
      algorithm: "ES256",
      expectedIssuer: url,
    }),
  ];
  const counts: number[] = [];
  for (const authProvider of providers) {
    const client = new Client({ name: "robot", version: "1" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(resourceOf(url, "one")), { authProvider }) as never,
    );
    const { tools } = await client.listTools();
    counts.push(tools.length);
    const echo = tools.find(({ name }) => name.endsWith("echo"));
    if (echo) await client.callTool({ name: echo.name, arguments: { text: "x" } }).catch(() => {});
    await client.close();
  }
  expect(counts[0]).toBeLessThan(counts[1] as number);
  const [record] = await until(async () => {
    const { items } = (await api("GET", `/audit?kind=call&principal=key%20${signing.id}`)).body;
    return items.length > 0 && items;
  });
  expect(record.principal).toMatchObject({ kind: "key", name: "signer" });
  const explained = await api("POST", "/endpoints/one/explain", { tool: "fix:echo", as: "key:nightly" });
  expect(explained.status).toBe(200);
});

test("only administrators make machine clients, and one with an owner ends with the owner's rights", async () => {
  const { api, people, url } = team();
  const cookie = cookieIn(await apiClient(url, { origin: url })("POST", "/login", BOB));
  const own = await apiClient(url, { cookie, origin: url })("POST", "/api-keys", {
    name: "mine",
    endpoints: ["one"],
    machine: {},
  });
  expect(own.status).toBe(403);
  const machine = await secretMachine(team(), { owner: BOB.email });
  const token = (await machine.token("ours")).body.access_token ?? "";
  expect(await use(token, "ours")).toBe(200);
  await api("PATCH", `/users/${people[BOB.email]}`, { disabled: true });
  expect(await use(token, "ours")).toBe(401);
  expect((await machine.token("ours")).status).toBe(401);
  await api("PATCH", `/users/${people[BOB.email]}`, { disabled: false });
  const adas = await secretMachine(team(), { owner: ADA.email });
  expect(await use((await adas.token("ours")).body.access_token ?? "", "ours")).toBe(404);
});
