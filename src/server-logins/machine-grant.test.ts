/** Tokens that MetaMCP gets for itself: how long they are used, and who gets the secret. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { guardedChild } from "../../test/support/guarded-child.ts";
import { remoteSpec } from "../../test/support/http-child.ts";
import { issuer } from "../../test/support/issuer.ts";
import { Secret } from "../kernel/secret.ts";
import { Authorizations, tokensInFolder } from "./authorizations.ts";
import type { ShownBearer } from "./bearer.ts";

async function setUp() {
  const by = await issuer();
  by.tokenAuthMethods = ["client_secret_basic"];
  by.clients.set("robot", { redirectUris: [], secret: "the-secret" });
  const child = await guardedChild(by);
  const home = mkdtempSync(join(tmpdir(), "metamcp-oauth-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const oauth = {
    grant: "client_credentials",
    clientId: "robot",
    clientSecret: new Secret("the-secret"),
  } as const;
  const spec = { ...remoteSpec(child.url), oauth };
  let time = 1_000_000;
  const bearer = () => new Authorizations(tokensInFolder(home), () => time).for(spec);
  const asked = () => by.requests("/token", "client_credentials");
  return { by, child, spec, home, bearer, asked, pass: (ms: number) => (time += ms) };
}

test("one token serves all requests and processes until it is about to expire", async () => {
  const { bearer, asked, pass, spec } = await setUp();
  const [one, other] = [bearer(), bearer()];
  const shown = await Promise.all([one.current(), one.current(), other.current(), other.current()]);
  expect(new Set(shown.map((each) => each?.header)).size).toBe(1);
  expect(asked()).toHaveLength(1);
  expect(asked()[0]?.params.get("resource")).toBe(spec.url);
  pass(3_600_000 - 59_000);
  const next = await one.current();
  expect(next?.header).not.toBe(shown[0]?.header);
  expect(next?.holder).toBe(shown[0]?.holder);
  expect((await other.current())?.header).toBe(next?.header);
  expect(asked()).toHaveLength(2);
});

test("a refused token is replaced once, and a failure is tried again only after a while", async () => {
  const { by, bearer, asked, pass } = await setUp();
  const one = bearer();
  const first = (await one.current()) as ShownBearer;
  const second = (await one.replace(first, { missing: undefined })) as ShownBearer;
  expect(second.header).not.toBe(first.header);
  one.replacementDenied();
  expect(await one.replace(second, { missing: undefined })).toBe("it refuses even a new token");
  expect(asked()).toHaveLength(2);
  by.clients.delete("robot");
  pass(3_600_000);
  const refused = await Promise.resolve(one.current()).catch((error: Error) => error.message);
  expect(refused).toMatch(/invalid_client/);
  await expect(one.current()).rejects.toThrow(/invalid_client/);
  expect(asked()).toHaveLength(3);
  by.clients.set("robot", { redirectUris: [], secret: "the-secret" });
  pass(10_001);
  expect(await one.current()).toBeDefined();
});

test("a server that changes its issuer does not get the secret there", async () => {
  const { by, bearer, spec, home, pass } = await setUp();
  await bearer().current();
  const thief = await issuer();
  thief.tokenAuthMethods = ["client_secret_basic"];
  const taken = await guardedChild(thief);
  // The same server, as far as MetaMCP can know: the login data are kept by its address.
  const { TokenStore } = await import("./store.ts");
  const address = new URL(taken.url).href;
  await new TokenStore(home, spec.name).update((before) => ({
    ...before,
    use: { [address]: "default" },
    grants: before.grants.map((grant) => ({ ...grant, url: address })),
  }));
  pass(3_600_000);
  const there = new Authorizations(tokensInFolder(home), () => 1_000_000 + 3_600_000).for({
    ...spec,
    url: taken.url,
  });
  await expect(there.current()).rejects.toThrow(/now uses another issuer/);
  expect(thief.received.filter(({ path }) => path === "/token")).toEqual([]);
  expect(by.requests("/token", "client_credentials")).toHaveLength(1);
});
