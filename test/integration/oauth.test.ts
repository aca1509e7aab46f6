/** Login at remote servers end to end: the built product, a real issuer, and real servers that require a login. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CommandResult, metamcp } from "../support/command.ts";
import { freePort } from "../support/free-port.ts";
import { gateway } from "../support/gateway.ts";
import { type GuardedChild, guardedChild, type Kind } from "../support/guarded-child.ts";
import { httpChild, json } from "../support/http-child.ts";
import { type Issuer, issuer } from "../support/issuer.ts";
import { beginLogin, logIn } from "../support/login.ts";
import { discover, failureOf, serverStatus, textOf } from "../support/meta.ts";
import type { RawClient } from "../support/raw-client.ts";
import { type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

interface SetUp {
  readonly by: Issuer;
  readonly child: GuardedChild;
  readonly folder: Temp;
  /** The output of all processes. */
  readonly written: string[];
  start(): Promise<RawClient>;
  run(...args: string[]): Promise<CommandResult>;
  login(...args: string[]): ReturnType<typeof logIn>;
}

async function setUp(kind: Kind = "legacy", entry: object = {}): Promise<SetUp> {
  const by = await issuer();
  const child = await guardedChild(by, kind);
  const folder = temp();
  folder.writeConfig({ guarded: { url: child.url, ...(kind === "sse" && { type: "sse" }), ...entry } });
  const written: string[] = [];
  const recorded = <T extends CommandResult>(ended: T): T => {
    written.push(ended.out, ended.err);
    return ended;
  };
  return {
    by,
    child,
    folder,
    written,
    async start() {
      const client = gateway(folder, { flags: ["--log-level", "debug"] });
      await client.initialize();
      return client;
    },
    run: async (...args) => recorded(await metamcp(folder, args)),
    login: async (...args) => recorded(await logIn(folder, "guarded", ...args)),
  };
}

const tokenFile = (folder: Temp): string => join(folder.home, "oauth/guarded/tokens.json");
const refreshes = (by: Issuer): number => by.requests("/token", "refresh_token").length;
/** The number of sessions with credentials; the login itself begins none. */
const handshakes = ({ seen }: GuardedChild): number =>
  seen.filter(({ message, headers }) => message.method === "initialize" && headers.authorization).length;
const call = async (client: RawClient, tool = "read"): Promise<string> =>
  textOf(await client.mcpCall("guarded", tool));

test("a refused call works after the login without a restart, and no secret is printed", async () => {
  const { by, child, folder, written, start, run, login } = await setUp();
  const client = await start();

  const refused = failureOf(await client.mcpCall("guarded", "read"));
  expect(refused).toMatchObject({ code: "auth_required", retryable: false });
  expect(refused.message).toContain("metamcp auth guarded");
  const found = await discover(client, { query: "read" });
  expect(found.unknown?.[0]?.reason).toMatch(/auth_required.*metamcp auth guarded/);
  expect((await serverStatus(client, "guarded")).reason).toMatch(/^auth_required: .*metamcp auth guarded/);
  const beforeLogin = await run("doctor");
  expect(beforeLogin).toMatchObject({
    code: 1,
    out: expect.stringMatching(/auth_required: .*→ Log in, .*\$ metamcp auth guarded/s),
  });

  const { code, page, out, address } = await login();
  expect({ code, out }).toEqual({ code: 0, out: `Logged in to guarded as default at ${by.url}.\n` });
  expect(page).toContain("You can close this window");
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    scope: "read",
    resource: child.url,
    code_challenge_method: "S256",
  });

  // Discovery comes first, because it must not reuse its earlier failure.
  expect((await discover(client, { query: "read" })).tools?.[0]).toMatchObject({ tool: "read" });
  expect(await call(client)).toBe("did read");
  expect((await run("doctor")).code).toBe(0);
  const [status] = JSON.parse((await run("auth", "--status", "--json")).out).logins;
  expect(status).toMatchObject({
    server: "guarded",
    account: "default",
    inUse: true,
    usable: true,
    scopes: ["read"],
  });

  const modes = ["oauth", "oauth/guarded", "oauth/guarded/tokens.json"].map(
    (name) => statSync(join(folder.home, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600]);
  expect(readdirSync(join(folder.home, "oauth/guarded"))).toEqual(["tokens.json"]);
  await client.close();
  const all = [...written, client.stderr].join("\n");
  expect([...by.secrets].filter((secret) => all.includes(secret))).toEqual([]);
  expect(by.secrets.size).toBeGreaterThan(2);
});

test.each<Kind>(["legacy", "2026", "sse"])("a rejected token is renewed once: %s", async (kind) => {
  const { by, child, start, login } = await setUp(kind);
  await login();
  const client = await start();
  expect(await call(client)).toBe("did read");
  const discovered = child.seen.some(({ message }) => message.method === "server/discover");
  expect(discovered || kind !== "2026").toBe(true);

  by.expireAll();
  expect(await Promise.all([call(client), call(client), call(client)])).toEqual(Array(3).fill("did read"));

  expect(refreshes(by)).toBe(1);
  expect(by.requests("/token", "refresh_token")[0]?.params.get("resource")).toMatch(/\/mcp$/);
  await client.close();
  expect([...by.secrets].filter((secret) => client.stderr.includes(secret))).toEqual([]);
});

test("a token is renewed before it expires, so no request uses an expired one", async () => {
  const { by, child, start, login } = await setUp();
  by.expiresIn = 0.001;
  await login();
  by.expiresIn = 3600;
  child.shown.length = 0;
  const client = await start();

  expect(await call(client)).toBe("did read");

  expect(refreshes(by)).toBe(1);
  expect(new Set(child.shown).size).toBe(1);
  expect(by.holderOf(child.shown[0])).toBeDefined();
});

test("two gateways with one home renew in turn and both keep working", async () => {
  const { by, start, login } = await setUp();
  await login();
  const clients = [await start(), await start()];
  await Promise.all(clients.map((client) => call(client)));

  for (const _ of [1, 2, 3]) {
    by.expireAll();
    expect(await Promise.all(clients.map((client) => call(client)))).toEqual(["did read", "did read"]);
  }

  expect(refreshes(by)).toBe(3);
  expect(by.families).toMatchObject([{ revoked: false }]);
});

test("a login revoked by the issuer gives auth_required with the command, does not block the server, and is renewed only once", async () => {
  const { by, start, login } = await setUp();
  await login();
  const client = await start();
  expect(await call(client)).toBe("did read");
  by.revokeAll();

  for (let calls = 0; calls < 7; calls++) {
    const failure = failureOf(await client.mcpCall("guarded", "read"));
    expect(failure).toMatchObject({ code: "auth_required", details: { command: "metamcp auth guarded" } });
    expect(failure.message).toContain("the login");
  }
  expect(refreshes(by)).toBe(1);
  expect(await serverStatus(client, "guarded")).toMatchObject({ state: "idle", connected: true });

  await login();
  expect(await call(client)).toBe("did read");
  await client.close();
  expect([...by.secrets].filter((secret) => client.stderr.includes(secret))).toEqual([]);
});

test("an unavailable issuer does not delete the login", async () => {
  const { by, folder, start, run, login } = await setUp();
  by.expiresIn = 0.001;
  await login();
  const before = readFileSync(tokenFile(folder), "utf8");
  by.down = true;
  const client = await start();

  const failure = failureOf(await client.mcpCall("guarded", "read"));
  expect(failure).toMatchObject({
    code: "auth_required",
    message: expect.stringContaining("could not be renewed"),
  });
  expect(readFileSync(tokenFile(folder), "utf8")).toBe(before);

  by.down = false;
  by.expiresIn = 3600;
  expect(await run("call", "guarded", "read")).toMatchObject({ code: 0, out: "did read\n" });
  // The other gateway uses the renewed token.
  expect(await call(client)).toBe("did read");
});

test("a missing scope is named, and the next login requests it as well", async () => {
  const { by, start, login, run } = await setUp();
  await login();
  const client = await start();
  expect(await call(client)).toBe("did read");

  const failure = failureOf(await client.mcpCall("guarded", "write"));
  expect(failure).toMatchObject({
    code: "auth_required",
    details: { command: "metamcp auth guarded", scopes: ["write"] },
  });
  expect(failure.message).toMatch(/requires write.*metamcp auth guarded/);
  expect(refreshes(by)).toBe(0);
  expect(await call(client)).toBe("did read");
  const { out: status } = await run("auth", "--status");
  expect(status).toContain("the server also requires write");
  expect(status).toMatch(
    /^SERVER +ACCOUNT +STATE +UNTIL +SCOPES\nguarded .* \d{4}-\d\d-\d\d \d\d:\d\d, then renewed +read$/m,
  );

  const { address } = await login();
  expect(address.searchParams.get("scope")).toBe("read write");
  expect(await call(client, "write")).toBe("did write");
  expect((await run("auth", "--status")).out).not.toContain("also requires");
});

test("a logout deletes the tokens and revokes them at the issuer", async () => {
  const { by, folder, start, run, login } = await setUp();
  await login();
  const client = await start();
  expect(await call(client)).toBe("did read");

  expect(await run("auth", "guarded", "--logout")).toMatchObject({
    code: 0,
    out: "Logged out of guarded (default).\n",
  });

  expect(by.families).toMatchObject([{ revoked: true }]);
  expect(
    [...by.secrets].filter((secret) => readFileSync(tokenFile(folder), "utf8").includes(secret)),
  ).toEqual([]);
  expect(failureOf(await client.mcpCall("guarded", "read"))).toMatchObject({ code: "auth_required" });
  expect((await run("auth", "guarded", "--status")).out).toContain("not logged in");
  expect(await run("auth", "guarded", "--logout")).toMatchObject({ code: 1 });

  // The tools are cached, so only a call notices the logout. The shown reason must not send people in a circle.
  const second = await start();
  await second.mcpCall("guarded", "read");
  expect((await serverStatus(second, "guarded")).reason).toMatch(/^auth_required/);
  await login();
  expect((await serverStatus(second, "guarded")).reason).toMatch(/logged in or out since.*next call/);
  expect(await call(second)).toBe("did read");
  expect((await serverStatus(second, "guarded")).reason).toBeUndefined();
});

test("a forged callback changes nothing, and the right one is accepted once", async () => {
  const { folder } = await setUp();
  const begun = beginLogin(folder, ["guarded", "--json"]);
  const address = await begun.address;
  const back = new URL(address.searchParams.get("redirect_uri") ?? "");
  expect(back.hostname).toBe("127.0.0.1");

  for (const query of ["", "?code=x&state=guess", `?code=x&state=${"x".repeat(43)}`])
    expect((await fetch(`${back.href}${query}`)).status).toBe(400);
  expect((await fetch(new URL("/other", back))).status).toBe(404);
  await fetch(address);

  const { code, out } = await begun.ended;
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, server: "guarded", loggedIn: true });
});

test.each([
  ["the person refuses", { denies: true }, /access_denied/],
  ["another issuer answers", { iss: "https://evil.example" }, /another issuer/],
  ["another issuer refuses", { iss: "https://evil.example", denies: true }, /another issuer/],
])("if %s the login fails and the terminal says why", async (_, trait, why) => {
  const { by, login, run } = await setUp();
  Object.assign(by, trait);

  const { code, err, page } = await login();

  expect(code).toBe(1);
  expect(err).toMatch(why);
  expect(err).not.toContain("evil.example");
  expect(page).toContain("Not logged in");
  expect(by.requests("/token")).toEqual([]);
  expect((await run("auth", "--status")).out).toContain("not logged in");
});

test("one of several accounts is active, running calls finish with theirs, and switching needs no new login", async () => {
  const { by, child, start, run, login } = await setUp();
  await login();
  const client = await start();
  const underWay = call(client, "hold");
  await until(() => child.held.length === 1);
  const first = child.shown.at(-1);

  await login("--account", "work");
  expect(await call(client)).toBe("did read");
  expect(child.shown.at(-1)).not.toBe(first);
  expect(handshakes(child)).toBe(2);
  child.held[0]?.();
  expect(await underWay).toBe("did hold");

  expect(await run("auth", "guarded", "--account", "default")).toMatchObject({ code: 0 });
  expect(by.families).toHaveLength(2);
  expect(await call(client)).toBe("did read");
  expect(child.shown.at(-1)).toBe(first);
  const { logins } = JSON.parse((await run("auth", "--status", "--json")).out);
  expect(logins).toMatchObject([
    { account: "default", inUse: true },
    { account: "work", inUse: false },
  ]);
  // One registration serves both accounts, because its port was free again.
  expect(by.clients.size).toBe(1);
});

test("a broken token file is reported, and a login repairs it", async () => {
  const { folder, run, login } = await setUp();
  mkdirSync(join(folder.home, "oauth/guarded"), { recursive: true, mode: 0o755 });
  writeFileSync(tokenFile(folder), '{"version": 1, "use"', { mode: 0o644 });

  const failed = await run("call", "guarded", "read");
  expect(failed).toMatchObject({
    code: 1,
    err: expect.stringMatching(/tokens\.json has unexpected content/),
  });
  expect((await run("auth", "--status")).out).toContain("has unexpected content");

  expect((await login()).code).toBe(0);
  expect((await run("call", "guarded", "read")).out).toBe("did read\n");
  expect(statSync(tokenFile(folder)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder.home, "oauth/guarded")).mode & 0o777).toBe(0o700);
});

test("a server with another address or issuer does not receive the old token", async () => {
  const { by, child, folder, run, login } = await setUp();
  await login();
  const elsewhere = await guardedChild(by);
  folder.writeConfig({ guarded: { url: elsewhere.url } });
  expect((await run("call", "guarded", "read")).err).toContain("auth_required");
  expect(new Set(elsewhere.shown)).toEqual(new Set([""]));

  folder.writeConfig({ guarded: { url: child.url } });
  const other = await issuer();
  child.by = other;
  expect((await run("call", "guarded", "read")).err).toContain("auth_required");
  expect(other.requests("/token")).toEqual([]);
  await login();
  expect((await run("call", "guarded", "read")).out).toBe("did read\n");
  expect(other.families).toHaveLength(1);
});

test("a client from the config is used without registration, and its secret is not stored", async () => {
  const { by, folder, run, login } = await setUp("legacy", {
    oauth: { clientId: "mine", clientSecret: "hidden-in-config", scopes: ["read", "write"] },
  });
  by.tokenAuthMethods = ["client_secret_basic"];
  by.secrets.add("hidden-in-config");
  by.expiresIn = 0.001;
  const port = await freePort();
  by.clients.set("mine", { redirectUris: [`http://127.0.0.1:${port}/callback`], secret: "hidden-in-config" });

  const { address } = await login("--callback-port", String(port));
  expect(address.searchParams.get("scope")).toBe("read write");
  expect((await run("call", "guarded", "write")).out).toBe("did write\n");

  expect(refreshes(by)).toBeGreaterThan(0);
  expect(by.requests("/register")).toEqual([]);
  expect(readFileSync(tokenFile(folder), "utf8")).not.toContain("hidden-in-config");
});

test("a client metadata document replaces the registration if the issuer supports it", async () => {
  const { by, run, login } = await setUp("legacy", {
    oauth: { clientMetadataUrl: "https://example.com/metamcp.json" },
  });
  by.takesDocuments = true;

  expect((await login()).address.searchParams.get("client_id")).toBe("https://example.com/metamcp.json");
  expect((await run("call", "guarded", "read")).out).toBe("did read\n");
  expect(by.requests("/register")).toEqual([]);
});

test("an issuer without registration is reported with what to write into the config", async () => {
  const { by, run } = await setUp();
  by.registers = false;
  const { code, err } = await run("auth", "guarded", "--no-browser");
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('"oauth": { "clientId"') });
});

test.each([
  [200, /requires no login/],
  [401, /has no authorization server/],
])("a server without an authorization server is reported: status %i", async (status, why) => {
  const { folder, run } = await setUp();
  const { url } = await httpChild(({ url: path }, response) =>
    json(response, {}, path === "/mcp" ? status : 404),
  );
  folder.writeConfig({ guarded: { url } });
  expect(await run("auth", "guarded")).toMatchObject({ code: 1, err: expect.stringMatching(why) });
});

test("a home that cannot store tokens does not prevent calls", async () => {
  const { folder, run } = await setUp();
  mkdirSync(folder.home);
  writeFileSync(join(folder.home, "oauth"), "a file, not a folder");
  expect((await run("call", "guarded", "read")).err).toMatch(/auth_required.*metamcp auth guarded/);
});

test("an Authorization header in the config takes precedence over a login", async () => {
  const { child, folder, run, login } = await setUp();
  await login();
  child.shown.length = 0;
  folder.writeConfig({ guarded: { url: child.url, headers: { authorization: "Bearer of-my-own" } } });

  const failed = await run("call", "guarded", "read");
  expect(failed.err).toContain("Check the Authorization header in its config");
  expect(failed.err).not.toContain("of-my-own");
  expect(new Set(child.shown)).toEqual(new Set(["of-my-own"]));
  expect(await run("auth", "guarded")).toMatchObject({ code: 1 });
});

test("auth reports wrong usage and unknown, local and unreachable servers", async () => {
  const { folder, run } = await setUp();
  const nobody = await freePort();
  folder.writeConfig({ guarded: { url: `http://127.0.0.1:${nobody}/mcp` }, local: { command: "x" } });
  expect(await run("auth")).toMatchObject({ code: 2 });
  expect(await run("auth", "guarded", "--status", "--logout")).toMatchObject({ code: 2 });
  expect(await run("auth", "local")).toMatchObject({ code: 1, err: expect.stringContaining('"env"') });
  expect(await run("auth", "guardde")).toMatchObject({ code: 1, err: expect.stringContaining('"guarded"') });
  expect(await run("auth", "guarded")).toMatchObject({
    code: 1,
    err: expect.stringContaining("ECONNREFUSED"),
  });
});
