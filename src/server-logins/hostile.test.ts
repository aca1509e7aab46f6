/** Hostile and broken servers and issuers. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type GuardedChild, guardedChild } from "../../test/support/guarded-child.ts";
import { httpChild, json, remoteSpec } from "../../test/support/http-child.ts";
import { type Issuer, issuer } from "../../test/support/issuer.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { ManualClock } from "../kernel/clock.ts";
import { Secret } from "../kernel/secret.ts";
import { Authorizations, tokensInFolder } from "./authorizations.ts";
import type { ShownBearer } from "./bearer.ts";
import { type Grant, grantInUse, withoutGrant } from "./grant.ts";
import { logIn } from "./login.ts";
import { fetchFor } from "./sdk.ts";
import { loginsAt } from "./status.ts";
import { TokenStore } from "./store.ts";

const NOW = 1_000_000;
/** Redirect addresses of a client that is registered for every port. */
const ANY_URI = Object.assign([], { includes: () => true }) as readonly string[];

interface SetUp {
  readonly by: Issuer;
  readonly child: GuardedChild;
  readonly home: string;
  readonly spec: RemoteSpec;
  readonly store: TokenStore;
  login(spec?: RemoteSpec): Promise<Grant>;
}

async function setUp(): Promise<SetUp> {
  const by = await issuer();
  const child = await guardedChild(by);
  const home = mkdtempSync(join(tmpdir(), "metamcp-oauth-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const spec = remoteSpec(child.url);
  const send = (address: URL): void => void fetch(address);
  const login = (at = spec): Promise<Grant> =>
    logIn({ spec: at, home, account: "default", port: 0, clock: new ManualClock(), now: () => NOW, send });
  return { by, child, home, spec, login, store: new TokenStore(home, spec.name) };
}

test.each([0, -5, 1e300, 1e17])("a token lifetime of %d s is ignored", async (expiresIn) => {
  const { by, home, spec, store, login } = await setUp();
  by.expiresIn = expiresIn;
  await login();
  expect(grantInUse(await store.read(), spec.url)?.expiresAt).toBeUndefined();
  expect(await loginsAt(spec, store, NOW)).toMatchObject([{ usable: true, state: "logged in" }]);
  const bearer = new Authorizations(tokensInFolder(home), () => NOW).for(spec);
  await bearer.current();
  await bearer.current();
  expect(by.requests("/token", "refresh_token")).toEqual([]);
});

test("a server that keeps requiring new scopes has at most 100 of them stored", async () => {
  const { home, spec, store, login } = await setUp();
  await login();
  const bearer = new Authorizations(tokensInFolder(home), () => NOW).for(spec);
  const shown = (await bearer.current()) as ShownBearer;
  for (let round = 0; round < 10; round++) {
    const missing = Array.from({ length: 50 }, (_, at) => `${round}:${at}`);
    await bearer.replace(shown, { missing });
  }
  const wanted = grantInUse(await store.read(), spec.url)?.wanted ?? [];
  expect(wanted.length).toBeLessThanOrEqual(100);
  expect(wanted).toContain("9:49");
});

test("a clock that is set back does not prevent a renewal", async () => {
  const { by, home, spec, login } = await setUp();
  await login();
  let time = NOW + 7_200_000;
  const bearer = new Authorizations(tokensInFolder(home), () => time).for(spec);
  by.down = true;
  await expect(bearer.current()).rejects.toThrow(/could not be renewed/);
  by.down = false;
  time = NOW + 3_600_000;
  expect(await bearer.current()).toBeDefined();

  bearer.replacementDenied();
  by.expireAll();
  time = NOW + 1_800_000;
  expect(await bearer.replace((await bearer.current()) as ShownBearer, { missing: undefined })).toMatchObject(
    {
      header: expect.stringMatching(/^Bearer /),
    },
  );
});

test.each([
  [400, { error: "invalid_grant" }, true],
  [401, { error: "invalid_client" }, true],
  [400, { error: "something_else" }, false],
  [429, { error: "rate_limited" }, false],
  [403, { error: "forbidden" }, false],
  [404, {}, false],
  [307, {}, false],
])("an issuer that answers %i %j ends a login: %s", async (status, body, over) => {
  const { home, spec, store, login } = await setUp();
  const grant = await login();
  const broken = await httpChild((_, response) =>
    json(response, body, status, status === 307 ? { location: "https://elsewhere.example/token" } : {}),
  );
  const issuerWithout = { ...grant.issuer, token_endpoint: broken.url };
  await store.update((loginData) => ({ ...loginData, grants: [{ ...grant, issuer: issuerWithout }] }));
  const bearer = new Authorizations(tokensInFolder(home), () => NOW + 7_200_000).for(spec);
  await expect(bearer.current()).rejects.toThrow(over ? /has ended/ : /could not be renewed/);
  expect(broken.seen).toHaveLength(1);
  expect(grantInUse(await store.read(), spec.url)?.refreshToken === undefined).toBe(over);
});

test("a login at a public server sends no request to this machine", async () => {
  const here = await httpChild((_, response) => json(response, {}));
  const ask = fetchFor("https://far.example/mcp");
  await expect(ask(here.url)).rejects.toThrow(/uses http or a private address/);
  expect(here.seen).toEqual([]);
  expect((await fetchFor(here.url)(here.url)).status).toBe(200);
});

test("redirects are followed only to allowed addresses, and never for POST requests", async () => {
  const here = await httpChild((_, response) => json(response, {}));
  const sends = (to: string, status = 302) =>
    httpChild((_, response) => void response.writeHead(status, { location: to }).end());
  const near = await sends(here.url);
  expect((await fetchFor(near.url)(near.url)).status).toBe(200);
  expect((await fetchFor(near.url)(near.url, { redirect: "manual" })).status).toBe(302);
  const outside = await sends("http://far.example/");
  await expect(fetchFor(outside.url)(outside.url)).rejects.toThrow(/uses http or a private address/);
  const [first] = here.seen.splice(0);
  expect(first?.method).toBe("GET");
  for (const status of [302, 303, 307, 308]) {
    const posted = await sends(here.url, status);
    const asked = fetchFor(posted.url)(posted.url, { method: "POST", body: "code=secret" });
    await expect(asked).rejects.toThrow(/redirects to an unexpected address/);
  }
  await expect(fetchFor(near.url)(near.url, { redirect: "error" })).rejects.toThrow(
    /redirects to an unexpected address/,
  );
  expect(here.seen).toEqual([]);
  const round = await httpChild((_, response) => void response.writeHead(302, { location: "/mcp" }).end());
  await expect(fetchFor(round.url)(round.url)).rejects.toThrow(/redirects to an unexpected address/);
});

test("an endless answer is aborted", async () => {
  const endless = await httpChild((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  });
  await expect(fetchFor(endless.url)(endless.url).then((answer) => answer.text())).rejects.toThrow(
    /too long/,
  );
});

test("error messages contain no control characters from an issuer", async () => {
  const { login } = await setUp();
  const odd = await httpChild(({ url: path }, response) => {
    const { origin } = new URL(odd.url);
    const named = `${origin}/\u001b[2J`;
    const endpoints = { authorization_endpoint: `${origin}/a`, token_endpoint: `${origin}/t` };
    if (path.includes("oauth-protected-resource"))
      json(response, { resource: odd.url, authorization_servers: [named] });
    else if (path.startsWith("/.well-known"))
      json(response, { issuer: named, ...endpoints, response_types_supported: ["code"] });
    else json(response, {}, 401, { "www-authenticate": "Bearer" });
  });
  await expect(login(remoteSpec(odd.url))).rejects.toThrow(/^\P{Cc}*$/u);
});

test("invalid scopes are neither requested nor stored", async () => {
  const { by, spec, store, login } = await setUp();
  await login({ ...spec, oauth: { scopes: ["read", "\u001b[31mred", 'a"b', "x".repeat(300)] } as never });
  expect(by.requests("/authorize")[0]?.params.get("scope")).toBe("read");
  expect(readFileSync(store.path, "utf8")).not.toContain("[31m");
});

test("an error does not contain a URL that cannot be requested, because it may contain a password", async () => {
  const { spec, login } = await setUp();
  const at = { ...spec, url: spec.url.replace("http://", "http://me:secret-word@") };
  await expect(login(at)).rejects.toThrow(/^(?!.*secret-word)/s);
});

test("the client secret of the config is not sent to a new issuer", async () => {
  const { by, child, spec, store, login } = await setUp();
  const other = await issuer();
  for (const one of [by, other]) {
    one.tokenAuthMethods = ["client_secret_post"];
    one.clients.set("mine", { redirectUris: ANY_URI, secret: "of-the-config" });
  }
  const mine = {
    ...spec,
    oauth: { clientId: "mine", clientSecret: new Secret("of-the-config") },
  } as RemoteSpec;
  const grant = await login(mine);
  child.by = other;
  await expect(login(mine)).rejects.toThrow(/now uses another issuer.*--logout/);
  expect(other.requests("/token")).toEqual([]);
  await store.update((loginData) => withoutGrant(loginData, grant));
  expect((await login(mine)).issuer.issuer).toBe(other.url);
});
