/** What the gateway does when it asks the identity provider about a person again. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Accounts } from "../../../src/access/accounts.ts";
import { ConsoleSessions } from "../../../src/access/console-session.ts";
import { IDENTITY_LOGIN, IdentityChecks } from "../../../src/access/identity-checks.ts";
import { IdentityProvider } from "../../../src/access/identity-provider.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { identityProvider, OIDC_CLIENT } from "../../support/identity-provider.ts";
import { sqliteDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const HOUR = 60 * 60_000;

/** A person in the group staff who is logged in. */
async function loggedIn({ scopes = [] as string[] } = {}) {
  const provider = await identityProvider();
  provider.refreshes = true;
  provider.claims = { sub: "u1", email: "ada@example.org", groups: ["staff", "boss"] };
  const database = sqliteDatabase();
  const store = await database.open();
  const accounts = new Accounts(store, { newId: randomUUID, adminToken: true });
  const sessions = new ConsoleSessions(store, accounts, { https: false });
  const clock = new ManualClock();
  const revoked: string[] = [];
  let now = Date.now();
  const client = new IdentityProvider({
    issuer: provider.issuer,
    clientId: OIDC_CLIENT.id,
    clientSecret: OIDC_CLIENT.secret,
    scopes,
    groupsClaim: "groups",
    adminGroup: "boss",
    allowGroups: ["staff"],
    callback: "/",
  });
  const parts = { store, accounts, sessions, provider: client, clock, log: silentLog, now: () => now };
  const revoke = (account: string) => Promise.resolve(void revoked.push(account));
  const checks = new IdentityChecks({ ...parts, revoke });
  const ada = await accounts.ofIdentity({ issuer: provider.issuer, subject: "u1", groups: ["staff"] });
  await checks.begun(ada, { identity: ada.identity as never, refreshToken: provider.firstRefreshToken() });
  const cookie = (await sessions.begin(ada, {})).split(";", 1)[0] ?? "";
  const pass = (ms: number): void => {
    now += ms;
  };
  const state = () => {
    const { disabled, suspended, groups, role } = accounts.byId(ada.uuid) ?? {};
    return { disabled, suspended, groups, role, session: sessions.of({ cookie }) !== undefined };
  };
  const again = { ...parts, revoke };
  return { provider, store, accounts, sessions, checks, clock, ada, revoked, pass, state, again, database };
}

test("groups and the role of administrators are read again every hour, and not before", async () => {
  const { provider, checks, pass, state } = await loggedIn();
  await checks.round();
  expect(provider.exchanged).toHaveLength(0);
  for (const groups of [["staff", "boss"], ["staff"]]) {
    provider.claims = { ...provider.claims, groups };
    pass(HOUR);
    await checks.round();
    const role = groups.includes("boss") ? "admin" : "member";
    expect(state()).toMatchObject({ disabled: false, groups, role, session: true });
  }
  expect(provider.exchanged).toHaveLength(2);
});

test("a timer checks logins without any request", async () => {
  const { provider, checks, clock, pass, state } = await loggedIn();
  checks.start();
  provider.claims = { ...provider.claims, groups: ["staff", "more"] };
  pass(HOUR);
  clock.advance(5 * 60_000);
  await until(() => state().groups?.includes("more"), { what: "the check" });
  checks.stop();
});

test("a person who lost the groups loses cookies, tokens and keys until the next login", async () => {
  const { provider, checks, accounts, ada, revoked, state, store } = await loggedIn();
  provider.claims = { ...provider.claims, groups: ["others"] };
  await checks.check(ada.uuid);
  expect(state()).toMatchObject({ disabled: true, suspended: true, session: false });
  expect(revoked).toEqual([ada.uuid]);
  expect(await store.records.list(IDENTITY_LOGIN)).toEqual([]);
  await accounts.ofIdentity({ issuer: provider.issuer, subject: "u1", groups: ["staff"] });
  expect(state()).toMatchObject({ disabled: false, suspended: undefined, session: false });
});

test("a login that ended at the provider ends here, with keys only if it was meant to last", async () => {
  for (const scopes of [[], ["offline_access"]]) {
    const { provider, checks, ada, revoked, state } = await loggedIn({ scopes });
    provider.refusal = "invalid_grant";
    await checks.check(ada.uuid);
    expect(state()).toMatchObject({ disabled: scopes.length > 0, session: false });
    expect(revoked).toEqual([ada.uuid]);
  }
});

test("a provider that does not answer, or refuses for another reason, ends nothing", async () => {
  const { provider, checks, ada, revoked, state, pass } = await loggedIn();
  const refusals = ["down", "invalid_client", "temporarily_unavailable"];
  for (const refusal of refusals) {
    provider.refusal = refusal;
    await checks.check(ada.uuid);
    pass(60_000);
  }
  expect(provider.exchanged).toHaveLength(refusals.length);
  expect([state().session, state().disabled, revoked]).toEqual([true, false, []]);
  provider.refusal = undefined;
  provider.claims = { ...provider.claims, groups: [] };
  pass(HOUR);
  await checks.round();
  expect(state()).toMatchObject({ disabled: true, session: false });
});

test("a provider that renews the login but cannot say more now does not lose the person", async () => {
  const { provider, checks, ada, revoked, state, pass } = await loggedIn();
  provider.claims = { sub: "u1" };
  await checks.check(ada.uuid);
  expect([state().session, revoked]).toEqual([true, []]);
  provider.userinfo = { sub: "u1", groups: ["staff", "more"] };
  pass(HOUR);
  await checks.round();
  expect(provider.exchanged).toHaveLength(2);
  expect(state()).toMatchObject({ disabled: false, groups: ["staff", "more"], session: true });
});

test("a provider that tells nothing after the login changes no groups, and still ends logins", async () => {
  const { provider, checks, ada, state } = await loggedIn();
  provider.silent = true;
  await checks.check(ada.uuid);
  expect(state()).toMatchObject({ disabled: false, groups: ["staff"], session: true });
  provider.refusal = "invalid_grant";
  await checks.check(ada.uuid);
  expect(state()).toMatchObject({ session: false });
});

test("access that could not be ended is ended by the next round", async () => {
  const { provider, again, ada, state, pass } = await loggedIn();
  let down = true;
  const revoke = () => (down ? Promise.reject(new Error("the store is down")) : Promise.resolve());
  const checks = new IdentityChecks({ ...again, revoke });
  provider.refusal = "invalid_grant";
  await checks.check(ada.uuid);
  down = false;
  const ended: string[] = [];
  const later = new IdentityChecks({ ...again, revoke: (uuid) => Promise.resolve(void ended.push(uuid)) });
  pass(HOUR);
  await later.round();
  expect(ended).toEqual([ada.uuid]);
  expect(state()).toMatchObject({ session: false });
});

test("a refresh token is used once, however many checks run at once at two gateways", async () => {
  const { provider, checks, again, ada, state } = await loggedIn();
  const other = new IdentityChecks(again);
  let answer = (): void => {};
  provider.answersAfter = new Promise((resolve) => {
    answer = resolve;
  });
  const first = [checks.check(ada.uuid), checks.check(ada.uuid)];
  await until(() => provider.exchanged.length > 0, { what: "the request" });
  await other.check(ada.uuid);
  expect(provider.exchanged).toHaveLength(1);
  answer();
  await Promise.all(first);
  await other.check(ada.uuid);
  expect(provider.exchanged).toHaveLength(2);
  expect(state()).toMatchObject({ disabled: false, session: true });
});

test("a login while a check runs counts more than what the check finds", async () => {
  const { provider, checks, ada, state } = await loggedIn();
  let answer = (): void => {};
  provider.answersAfter = new Promise((resolve) => {
    answer = resolve;
  });
  provider.refusal = "invalid_grant";
  const check = checks.check(ada.uuid);
  await until(() => provider.exchanged.length > 0, { what: "the request" });
  await checks.begun(ada, { identity: ada.identity as never, refreshToken: provider.firstRefreshToken() });
  answer();
  await check;
  expect(state()).toMatchObject({ disabled: false, session: true });
});

test("an administrator's own decision stays: a disabled account is not enabled by a check, a suspended one can be", async () => {
  const { provider, checks, accounts, ada, state } = await loggedIn();
  await accounts.change(ada.uuid, { disabled: true });
  await checks.check(ada.uuid);
  expect(state()).toMatchObject({ disabled: true, suspended: undefined, groups: ["staff"] });
  provider.claims = { ...provider.claims, groups: [] };
  await checks.check(ada.uuid);
  await accounts.change(ada.uuid, { disabled: false });
  expect(state()).toMatchObject({ disabled: false, suspended: undefined });
});

test("the store contains no readable token of the provider", async () => {
  const { provider, checks, ada, database } = await loggedIn();
  await checks.check(ada.uuid);
  const rows = JSON.stringify(await database.sql("SELECT * FROM metamcp_records"));
  for (const form of provider.exchanged) expect(rows).not.toContain(form.get("refresh_token"));
});
