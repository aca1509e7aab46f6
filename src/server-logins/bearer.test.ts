import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { guardedChild } from "../../test/support/guarded-child.ts";
import { remoteSpec } from "../../test/support/http-child.ts";
import { type Issuer, issuer } from "../../test/support/issuer.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { ManualClock } from "../kernel/clock.ts";
import { Authorizations, tokensInFolder } from "./authorizations.ts";
import type { Bearer, ShownBearer } from "./bearer.ts";
import { logIn } from "./login.ts";

const REFUSED = { missing: undefined };

interface SetUp {
  readonly by: Issuer;
  readonly home: string;
  readonly bearer: Bearer;
  readonly spec: RemoteSpec;
  /** A bearer as in another process. */
  other(): Bearer;
  login(): Promise<void>;
  pass(ms: number): void;
}

async function setUp(): Promise<SetUp> {
  const by = await issuer();
  const child = await guardedChild(by);
  const home = mkdtempSync(join(tmpdir(), "metamcp-oauth-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const spec = remoteSpec(child.url);
  let time = 1_000_000;
  const now = (): number => time;
  const other = (): Bearer => new Authorizations(tokensInFolder(home), now).for(spec);
  return {
    by,
    home,
    bearer: other(),
    spec,
    other,
    async login() {
      const send = (address: URL): void => void fetch(address);
      await logIn({ spec, home, account: "default", port: 0, clock: new ManualClock(), now, send });
    },
    pass(ms) {
      time += ms;
    },
  };
}

const refreshes = (by: Issuer): number => by.requests("/token", "refresh_token").length;

test("there is no token before the login, and afterwards the same one is returned without a promise", async () => {
  const { bearer, login } = await setUp();
  expect(await bearer.current()).toBeUndefined();
  expect(bearer.current()).toBeUndefined();
  expect(bearer.stale).toBe(false);

  await login();

  expect(bearer.stale).toBe(true);
  const shown = (await bearer.current()) as ShownBearer;
  expect(shown.header).toMatch(/^Bearer access-/);
  expect(bearer.current()).toBe(shown);
});

test("a token is renewed a minute before it expires, once for concurrent callers", async () => {
  const { by, bearer, login, pass } = await setUp();
  await login();
  const first = await bearer.current();
  pass(3_539_000);
  expect(bearer.current()).toBe(first);

  pass(2_000);
  const shown = await Promise.all([bearer.current(), bearer.current(), bearer.current()]);

  expect(new Set(shown).size).toBe(1);
  expect(shown[0]).not.toBe(first);
  expect(refreshes(by)).toBe(1);
});

test("a token that another process has renewed is used instead of renewing again", async () => {
  const { by, bearer, other, login } = await setUp();
  await login();
  const all = [bearer, other(), other()];
  const first = (await bearer.current()) as ShownBearer;
  for (const one of all) await one.current();

  const got = await Promise.all(all.map((one) => one.replace(first, REFUSED)));

  expect(new Set(got.map((one) => (one as ShownBearer).header)).size).toBe(1);
  expect(refreshes(by)).toBe(1);
  expect(by.families[0]?.revoked).toBe(false);
});

test("after a failed renewal the issuer is not asked for a while, and the old token is used until it expires", async () => {
  const { by, bearer, login, pass } = await setUp();
  await login();
  const first = await bearer.current();
  by.down = true;
  pass(3_550_000);

  expect(await bearer.current()).toBe(first);
  expect(bearer.current()).toBe(first);
  expect(refreshes(by)).toBe(1);

  pass(60_000);
  await expect(bearer.current()).rejects.toMatchObject({ code: "auth_required" });
  await expect(bearer.current()).rejects.toThrow("could not be renewed");
  expect(refreshes(by)).toBe(2);

  by.down = false;
  pass(11_000);
  expect(await bearer.current()).not.toBe(first);
});

test("a server that refuses new tokens does not cause endless renewals", async () => {
  const { by, bearer, login, pass } = await setUp();
  await login();
  const first = (await bearer.current()) as ShownBearer;
  const second = (await bearer.replace(first, REFUSED)) as ShownBearer;
  bearer.replacementDenied();

  expect(await bearer.replace(second, REFUSED)).toBe("it refuses even a new token");
  expect(refreshes(by)).toBe(1);
  pass(11_000);
  expect(await bearer.replace(second, REFUSED)).toMatchObject({ holder: second.holder });
});

test("a login that the issuer has ended is not renewed again", async () => {
  const { by, bearer, login } = await setUp();
  await login();
  const first = (await bearer.current()) as ShownBearer;
  by.revokeAll();

  const why = await bearer.replace(first, REFUSED);
  expect(why).toMatch(/^the login has ended: .*invalid_grant$/);
  expect([...by.secrets].filter((secret) => String(why).includes(secret))).toEqual([]);
  expect(await bearer.replace(first, REFUSED)).toBe("the login has expired");
  expect(refreshes(by)).toBe(1);
});

test("a login of another client id is not used", async () => {
  const { bearer, login, spec } = await setUp();
  await login();
  expect(await bearer.current()).toBeDefined();
  bearer.configure({ ...spec, oauth: { clientId: "other" } });
  expect(await bearer.current()).toBeUndefined();
  bearer.configure(spec);
  expect(await bearer.current()).toBeDefined();
});
