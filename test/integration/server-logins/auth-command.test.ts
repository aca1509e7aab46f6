/** Logins at remote servers with `metamcp auth`: login, logout, several accounts, and what goes wrong. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import type { GuardedChild } from "../../support/guarded-child.ts";
import { callGuarded, guardedGateway, tokenFile } from "../../support/guarded-gateway.ts";
import { beginLogin } from "../../support/login.ts";
import { discover, failureOf, serverStatus } from "../../support/meta.ts";
import { until } from "../../support/until.ts";

/** The number of sessions with credentials; the login itself begins none. */
const handshakes = ({ seen }: GuardedChild): number =>
  seen.filter(({ message, headers }) => message.method === "initialize" && headers.authorization).length;

test("a refused call works after the login without a restart, and no secret is printed", async () => {
  const { by, child, folder, written, start, run, login } = await guardedGateway();
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
  expect(await callGuarded(client)).toBe("did read");
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

test("a logout deletes the tokens and revokes them at the issuer", async () => {
  const { by, folder, start, run, login } = await guardedGateway();
  await login();
  const client = await start();
  expect(await callGuarded(client)).toBe("did read");

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

  // The tools are cached, so only a call notices the logout. The shown reason must not send people in a
  // circle.
  const second = await start();
  await second.mcpCall("guarded", "read");
  expect((await serverStatus(second, "guarded")).reason).toMatch(/^auth_required/);
  await login();
  expect((await serverStatus(second, "guarded")).reason).toMatch(/logged in or out since.*next call/);
  expect(await callGuarded(second)).toBe("did read");
  expect((await serverStatus(second, "guarded")).reason).toBeUndefined();
});

test("a forged callback changes nothing, and the right one is accepted once", async () => {
  const { folder } = await guardedGateway();
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
  const { by, login, run } = await guardedGateway();
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
  const { by, child, start, run, login } = await guardedGateway();
  await login();
  const client = await start();
  const underWay = callGuarded(client, "hold");
  await until(() => child.held.length === 1);
  const first = child.shown.at(-1);

  await login("--account", "work");
  expect(await callGuarded(client)).toBe("did read");
  expect(child.shown.at(-1)).not.toBe(first);
  expect(handshakes(child)).toBe(2);
  child.held[0]?.();
  expect(await underWay).toBe("did hold");

  expect(await run("auth", "guarded", "--account", "default")).toMatchObject({ code: 0 });
  expect(by.families).toHaveLength(2);
  expect(await callGuarded(client)).toBe("did read");
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
  const { folder, run, login } = await guardedGateway();
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

test("auth reports wrong usage and unknown, local and unreachable servers", async () => {
  const { folder, run } = await guardedGateway();
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
