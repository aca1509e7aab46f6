import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { guardedChild } from "../../test/support/guarded-child.ts";
import { remoteSpec } from "../../test/support/http-child.ts";
import { type Issuer, issuer } from "../../test/support/issuer.ts";
import { ManualClock } from "../kernel/clock.ts";
import { Authorizations, inFolder } from "./authorizations.ts";
import type { Bearer, ShownBearer } from "./bearer.ts";
import { logIn } from "./login.ts";

const REFUSED = { missing: undefined };

interface SetUp {
  readonly by: Issuer;
  readonly home: string;
  readonly bearer: Bearer;
  /** As another process would have it. */
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
  const other = (): Bearer => new Authorizations(inFolder(home), now).for(spec);
  return {
    by,
    home,
    bearer: other(),
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

test("nothing is shown before the login; after it the same is, at once and without a promise", async () => {
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

test("renewed a minute ahead, once for all who ask", async () => {
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

test("what another process renewed is taken instead of renewing again", async () => {
  const { by, bearer, other, login } = await setUp();
  await login();
  const all = [bearer, other(), other()];
  const first = (await bearer.current()) as ShownBearer;
  for (const one of all) await one.current();

  const got = await Promise.all(all.map((one) => one.instead(first, REFUSED)));

  expect(new Set(got.map((one) => (one as ShownBearer).header)).size).toBe(1);
  expect(refreshes(by)).toBe(1);
  expect(by.families[0]?.revoked).toBe(false);
});

test("an issuer that is down is left in peace for a while; until the end the old token is shown", async () => {
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

test("a server that takes no token at all cannot have them renewed without end", async () => {
  const { by, bearer, login, pass } = await setUp();
  await login();
  const first = (await bearer.current()) as ShownBearer;
  const second = (await bearer.instead(first, REFUSED)) as ShownBearer;
  bearer.inVain();

  expect(await bearer.instead(second, REFUSED)).toBe("it refuses even a new token");
  expect(refreshes(by)).toBe(1);
  pass(11_000);
  expect(await bearer.instead(second, REFUSED)).toMatchObject({ holder: second.holder });
});

test("a login that is over is not tried again", async () => {
  const { by, bearer, login } = await setUp();
  await login();
  const first = (await bearer.current()) as ShownBearer;
  by.revokeAll();

  const why = await bearer.instead(first, REFUSED);
  expect(why).toMatch(/^the login has ended: .*invalid_grant$/);
  expect([...by.secrets].filter((secret) => String(why).includes(secret))).toEqual([]);
  expect(await bearer.instead(first, REFUSED)).toBe("the login has expired");
  expect(refreshes(by)).toBe(1);
});

test("another client in the config has other logins", async () => {
  const { bearer, login } = await setUp();
  await login();
  expect(await bearer.current()).toBeDefined();
  bearer.configure({ clientId: "other" });
  expect(await bearer.current()).toBeUndefined();
  bearer.configure(undefined);
  expect(await bearer.current()).toBeDefined();
});
