/** Tokens of remote servers: renewed in time and once, and a new login where that is not possible. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Kind } from "../../support/guarded-child.ts";
import { callGuarded, guardedGateway, refreshes, tokenFile } from "../../support/guarded-gateway.ts";
import { failureOf, serverStatus } from "../../support/meta.ts";

test.each<Kind>(["legacy", "2026", "sse"])("a rejected token is renewed once: %s", async (kind) => {
  const { by, child, start, login } = await guardedGateway(kind);
  await login();
  const client = await start();
  expect(await callGuarded(client)).toBe("did read");
  const discovered = child.seen.some(({ message }) => message.method === "server/discover");
  expect(discovered || kind !== "2026").toBe(true);

  by.expireAll();
  expect(await Promise.all([callGuarded(client), callGuarded(client), callGuarded(client)])).toEqual(
    Array(3).fill("did read"),
  );

  expect(refreshes(by)).toBe(1);
  expect(by.requests("/token", "refresh_token")[0]?.params.get("resource")).toMatch(/\/mcp$/);
  await client.close();
  expect([...by.secrets].filter((secret) => client.stderr.includes(secret))).toEqual([]);
});

test("a token is renewed before it expires, so no request uses an expired one", async () => {
  const { by, child, start, login } = await guardedGateway();
  by.expiresIn = 0.001;
  await login();
  by.expiresIn = 3600;
  child.shown.length = 0;
  const client = await start();

  expect(await callGuarded(client)).toBe("did read");

  expect(refreshes(by)).toBe(1);
  expect(new Set(child.shown).size).toBe(1);
  expect(by.holderOf(child.shown[0])).toBeDefined();
});

test("two gateways with one home renew in turn and both keep working", async () => {
  const { by, start, login } = await guardedGateway();
  await login();
  const clients = [await start(), await start()];
  await Promise.all(clients.map((client) => callGuarded(client)));

  for (const _ of [1, 2, 3]) {
    by.expireAll();
    expect(await Promise.all(clients.map((client) => callGuarded(client)))).toEqual(["did read", "did read"]);
  }

  expect(refreshes(by)).toBe(3);
  expect(by.families).toMatchObject([{ revoked: false }]);
});

test("a login revoked by the issuer gives auth_required with the command, does not block the server, and is renewed only once", async () => {
  const { by, start, login } = await guardedGateway();
  await login();
  const client = await start();
  expect(await callGuarded(client)).toBe("did read");
  by.revokeAll();

  for (let calls = 0; calls < 7; calls++) {
    const failure = failureOf(await client.mcpCall("guarded", "read"));
    expect(failure).toMatchObject({ code: "auth_required", details: { command: "metamcp auth guarded" } });
    expect(failure.message).toContain("the login");
  }
  expect(refreshes(by)).toBe(1);
  expect(await serverStatus(client, "guarded")).toMatchObject({ state: "idle", connected: true });

  await login();
  expect(await callGuarded(client)).toBe("did read");
  await client.close();
  expect([...by.secrets].filter((secret) => client.stderr.includes(secret))).toEqual([]);
});

test("an unavailable issuer does not delete the login", async () => {
  const { by, folder, start, run, login } = await guardedGateway();
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
  expect(await callGuarded(client)).toBe("did read");
});

test("a missing scope is named, and the next login requests it as well", async () => {
  const { by, start, login, run } = await guardedGateway();
  await login();
  const client = await start();
  expect(await callGuarded(client)).toBe("did read");

  const failure = failureOf(await client.mcpCall("guarded", "write"));
  expect(failure).toMatchObject({
    code: "auth_required",
    details: { command: "metamcp auth guarded", scopes: ["write"] },
  });
  expect(failure.message).toMatch(/requires write.*metamcp auth guarded/);
  expect(refreshes(by)).toBe(0);
  expect(await callGuarded(client)).toBe("did read");
  const { out: status } = await run("auth", "--status");
  expect(status).toContain("the server also requires write");
  expect(status).toMatch(
    /^SERVER +ACCOUNT +STATE +UNTIL +SCOPES\nguarded .* \d{4}-\d\d-\d\d \d\d:\d\d, then renewed +read$/m,
  );

  const { address } = await login();
  expect(address.searchParams.get("scope")).toBe("read write");
  expect(await callGuarded(client, "write")).toBe("did write");
  expect((await run("auth", "--status")).out).not.toContain("also requires");
});
