/** Accounts and console sessions on a real store. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Account } from "../../../src/access/account.ts";
import { Accounts } from "../../../src/access/accounts.ts";
import { ConsoleSessions } from "../../../src/access/console-session.ts";
import { keyControl, MAX_KEYS_OF_ACCOUNT } from "../../../src/access/key-control.ts";
import { KeyRing } from "../../../src/access/key-ring.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { sqliteDatabase } from "../../support/test-databases.ts";

const PASSWORD = "correct horse battery";
const HOST = "127.0.0.1:12008";

async function people({ adminToken = false, publicUrl }: { adminToken?: boolean; publicUrl?: string } = {}) {
  const database = sqliteDatabase();
  const store = await database.open();
  const accounts = new Accounts(store, { newId: randomUUID, adminToken });
  const sessions = new ConsoleSessions(store, accounts, { publicUrl, https: false });
  await accounts.load();
  await sessions.load();
  return { database, store, accounts, sessions };
}

const cookieOf = (set: string): string => set.split(";", 1)[0] ?? "";

test("a password is accepted for its account only, and the email address is case-insensitive", async () => {
  const { accounts, database } = await people();
  const made = await accounts.create({ email: "Ada@Example.org", role: "admin", password: PASSWORD });
  expect((await accounts.withPassword("ada@example.ORG", PASSWORD, "192.0.2.1"))?.uuid).toBe(made.uuid);
  expect(await accounts.withPassword("ada@example.org", `${PASSWORD}!`, "192.0.2.1")).toBeUndefined();
  expect(await accounts.withPassword("bob@example.org", PASSWORD, "192.0.2.1")).toBeUndefined();
  await expect(accounts.create({ email: "ADA@example.org", role: "member" })).rejects.toMatchObject({
    code: "taken",
  });
  const rows = JSON.stringify(await database.sql("SELECT * FROM metamcp_records"));
  expect(rows).toContain("scrypt:");
  expect(rows).not.toContain(PASSWORD);
});

test("an account is found by issuer and subject, not by the email address of an identity", async () => {
  const { accounts } = await people();
  const local = await accounts.create({ email: "ada@example.org", role: "admin", password: PASSWORD });
  const identity = { issuer: "https://issuer.test", subject: "1", email: "ada@example.org" };
  const [first, again] = [await accounts.ofIdentity(identity), await accounts.ofIdentity(identity)];
  expect(first).toMatchObject({ role: "member", email: "ada@example.org" });
  expect(again.uuid).toBe(first.uuid);
  expect(first.uuid).not.toBe(local.uuid);
  expect(accounts.byEmail("ada@example.org")?.uuid).toBe(local.uuid);
  expect((await accounts.ofIdentity({ ...identity, issuer: "https://other.test" })).uuid).not.toBe(
    first.uuid,
  );
});

test("the last administrator who can log in cannot be removed, disabled or demoted", async () => {
  const { accounts } = await people();
  const ada = await accounts.create({ email: "ada@example.org", role: "admin", password: PASSWORD });
  await accounts.create({ email: "invited@example.org", role: "admin" });
  const tries: readonly (() => Promise<unknown>)[] = [
    () => accounts.remove(ada.uuid),
    () => accounts.change(ada.uuid, { disabled: true }),
    () => accounts.change(ada.uuid, { role: "editor" }),
  ];
  for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: "last_admin" });
  const bob = await accounts.create({ email: "bob@example.org", role: "admin", password: PASSWORD });
  const both = [ada, bob].map(({ uuid }) => accounts.change(uuid, { disabled: true }));
  expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual([
    "fulfilled",
    "rejected",
  ]);
  const free = await people({ adminToken: true });
  const only = await free.accounts.create({ email: "ada@example.org", role: "admin", password: PASSWORD });
  await free.accounts.remove(only.uuid);
});

test("of two concurrent attempts to create the first account, one succeeds", async () => {
  const { accounts } = await people();
  const first = (email: string) => accounts.createFirst({ email, role: "admin", password: PASSWORD });
  const made = await Promise.all([first("a@example.org"), first("b@example.org")]);
  expect(made.filter(Boolean)).toHaveLength(1);
});

test("another gateway on the same store is notified of every account change", async () => {
  const { accounts, store } = await people();
  const other = new Accounts(store, { newId: randomUUID, adminToken: false });
  await other.load();
  const changes: [string, Account | undefined][] = [];
  other.onChange((uuid, account) => changes.push([uuid, account]));
  const ada = await accounts.create({ email: "ada@example.org", role: "viewer" });
  await other.load();
  await accounts.change(ada.uuid, { groups: ["ops"] });
  await other.load();
  await accounts.remove(ada.uuid);
  await other.load();
  expect(changes).toMatchObject([
    [ada.uuid, { groups: [] }],
    [ada.uuid, { groups: ["ops"] }],
    [ada.uuid, undefined],
  ]);
});

test("each login creates a new cookie and ends the previous session, and a made-up cookie is rejected", async () => {
  const { accounts, sessions, database } = await people();
  const ada = await accounts.create({ email: "ada@example.org", role: "admin", password: PASSWORD });
  const fixed = `metamcp=${"x".repeat(43)}`;
  const set = await sessions.begin(ada, { cookie: fixed });
  expect(set).toMatch(/^metamcp=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
  expect(sessions.of({ cookie: fixed })).toBeUndefined();
  const cookie = cookieOf(set);
  expect(sessions.of({ cookie: `a=b; ${cookie}` })?.uuid).toBe(ada.uuid);
  const next = cookieOf(await sessions.begin(ada, { cookie }));
  expect(sessions.of({ cookie })).toBeUndefined();
  expect(sessions.of({ cookie: next })?.uuid).toBe(ada.uuid);
  const rows = JSON.stringify(await database.sql("SELECT * FROM metamcp_records"));
  expect(rows).not.toContain(next.split("=")[1]);
  await sessions.end({ cookie: next });
  expect(sessions.of({ cookie: next })).toBeUndefined();
});

test("a disabled account has no session until it is enabled again, and ending its sessions is final", async () => {
  const { accounts, sessions } = await people({ adminToken: true });
  const ada = await accounts.create({ email: "ada@example.org", role: "admin", password: PASSWORD });
  const cookie = cookieOf(await sessions.begin(ada, {}));
  await accounts.change(ada.uuid, { disabled: true });
  expect(sessions.of({ cookie })).toBeUndefined();
  expect(await accounts.withPassword("ada@example.org", PASSWORD, "192.0.2.1")).toBeUndefined();
  await accounts.change(ada.uuid, { disabled: false });
  expect(sessions.of({ cookie })).toBeDefined();
  await sessions.endOf(ada.uuid);
  expect(sessions.of({ cookie })).toBeUndefined();
});

test("only the origin of the gateway itself counts as its own page", async () => {
  const { sessions } = await people();
  expect(sessions.isOwnPage({ host: HOST, origin: `http://${HOST}` })).toBe(true);
  for (const origin of [
    undefined,
    "null",
    "http://127.0.0.1:3000",
    "http://evil.test",
    `http://${HOST}.evil.test`,
  ])
    expect(sessions.isOwnPage({ host: HOST, ...(origin === undefined ? {} : { origin }) })).toBe(false);
  const proxied = await people({ publicUrl: "https://mcp.example.org" });
  expect(proxied.sessions.isOwnPage({ host: HOST, origin: "https://mcp.example.org" })).toBe(true);
  expect(proxied.sessions.isOwnPage({ host: HOST, origin: "http://mcp.example.org" })).toBe(false);
  const ada = await proxied.accounts.create({ email: "ada@example.org", role: "admin" });
  expect(await proxied.sessions.begin(ada, {})).toMatch(/^__Host-metamcp=.*; Secure$/);
});

test("an account has at most 50 keys, however many are created at once, and keys without owner do not count", async () => {
  const { store } = await people();
  const keys = keyControl(store);
  const create = (owner?: string) =>
    keys.create({ name: "a key", endpoints: "all", ...(owner === undefined ? {} : { owner }) });
  const all = await Promise.allSettled(Array.from({ length: MAX_KEYS_OF_ACCOUNT + 3 }, () => create("ada")));
  const refused = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(refused).toHaveLength(3);
  expect(refused[0]).toMatchObject({ code: "too_many" });
  await create("bob");
  await create();
  const [own] = (await keys.list()).filter(({ owner }) => owner === "ada");
  await keys.revoke(own?.id ?? "");
  expect(await create("ada")).toMatchObject({ owner: "ada" });
});

test("the longest lifetime of keys also ends existing keys, those without expiry and those with a later one", async () => {
  const DAY = 24 * 60 * 60_000;
  const { store } = await people();
  const keys = keyControl(store);
  const create = (more: object) => keys.create({ name: "a key", endpoints: "all", ...more });
  const at = (days: number) => new Date(Date.now() + days * DAY).toISOString();
  const [endless, later, soon] = [
    await create({}),
    await create({ expiresAt: at(400) }),
    await create({ expiresAt: at(5) }),
  ];
  const machine = await create({ machine: {}, expiresAt: at(5) });
  let [lifetimeMs, passed]: [number | undefined, number] = [undefined, 0];
  const ended: unknown[] = [];
  const ring = new KeyRing(store, {
    now: () => Date.now() + passed,
    clock: new ManualClock(),
    lifetimeMs: () => lifetimeMs,
    onEnded: ({ key }) => ended.push(key?.id),
  });
  await ring.load();
  const valid = () => [endless, later, soon].map(({ key }) => ring.holderOf(key) !== undefined);
  const machineWorks = () => [
    ring.machineOf(machine.id) !== undefined,
    ring.isSecretOf(machine.id, machine.key),
  ];
  expect(machineWorks()).toEqual([true, true]);
  passed = 31 * DAY;
  expect(machineWorks()).toEqual([false, false]);
  expect(valid()).toEqual([true, true, false]);
  lifetimeMs = 30 * DAY;
  ring.limitChanged();
  expect(valid()).toEqual([false, false, false]);
  expect(ended).toEqual(expect.arrayContaining([endless.id, later.id]));
  expect(ring.expiryOf(soon)).toBe(soon.expiresAt);
  expect(Date.parse(ring.expiryOf(endless) ?? "")).toBe(Date.parse(endless.createdAt) + lifetimeMs);
  lifetimeMs = undefined;
  ring.limitChanged();
  expect(valid()).toEqual([true, true, false]);
});
