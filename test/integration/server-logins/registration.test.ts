/** How MetaMCP becomes a client of an issuer, and which servers get a token. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { guardedChild } from "../../support/guarded-child.ts";
import { guardedGateway, refreshes, tokenFile } from "../../support/guarded-gateway.ts";
import { httpChild, json } from "../../support/http-child.ts";
import { issuer } from "../../support/issuer.ts";

test("a server with another address or issuer does not receive the old token", async () => {
  const { by, child, folder, run, login } = await guardedGateway();
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
  const { by, folder, run, login } = await guardedGateway("legacy", {
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
  const { by, run, login } = await guardedGateway("legacy", {
    oauth: { clientMetadataUrl: "https://example.com/metamcp.json" },
  });
  by.takesDocuments = true;

  expect((await login()).address.searchParams.get("client_id")).toBe("https://example.com/metamcp.json");
  expect((await run("call", "guarded", "read")).out).toBe("did read\n");
  expect(by.requests("/register")).toEqual([]);
});

test("an issuer without registration is reported with what to write into the config", async () => {
  const { by, run } = await guardedGateway();
  by.registers = false;
  const { code, err } = await run("auth", "guarded", "--no-browser");
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('"oauth": { "clientId"') });
});

test.each([
  [200, /requires no login/],
  [401, /has no authorization server/],
])("a server without an authorization server is reported: status %i", async (status, why) => {
  const { folder, run } = await guardedGateway();
  const { url } = await httpChild(({ url: path }, response) =>
    json(response, {}, path === "/mcp" ? status : 404),
  );
  folder.writeConfig({ guarded: { url } });
  expect(await run("auth", "guarded")).toMatchObject({ code: 1, err: expect.stringMatching(why) });
});

test("a home that cannot store tokens does not prevent calls", async () => {
  const { folder, run } = await guardedGateway();
  mkdirSync(folder.home);
  writeFileSync(join(folder.home, "oauth"), "a file, not a folder");
  expect((await run("call", "guarded", "read")).err).toMatch(/auth_required.*metamcp auth guarded/);
});

test("an Authorization header in the config takes precedence over a login", async () => {
  const { child, folder, run, login } = await guardedGateway();
  await login();
  child.shown.length = 0;
  folder.writeConfig({ guarded: { url: child.url, headers: { authorization: "Bearer of-my-own" } } });

  const failed = await run("call", "guarded", "read");
  expect(failed.err).toContain("Check the Authorization header in its config");
  expect(failed.err).not.toContain("of-my-own");
  expect(new Set(child.shown)).toEqual(new Set(["of-my-own"]));
  expect(await run("auth", "guarded")).toMatchObject({ code: 1 });
});
