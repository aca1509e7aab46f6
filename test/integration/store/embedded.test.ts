/** Features of the embedded store: files, their permissions, and its own key. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import { connect } from "../../../src/store/sqlite/connect.ts";
import { sqliteDatabase, type TestDatabase } from "../../support/test-databases.ts";

const WHO = { kind: "user", id: "u1", name: "Ada" };
const fileOf = ({ url }: TestDatabase) => url.slice("file:".length);
const keyOf = ({ home }: TestDatabase) => join(home, "gateway", "secret.key");
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const NO_KEY = { env: {} };

test("the embedded store creates its files and folders with access for the owner only", async () => {
  const database = sqliteDatabase();
  const folder = join(dirname(fileOf(database)), "new", "folder");
  const store = await database.open({ url: `file:${join(folder, "gateway.db")}` });
  await store.commit({ base: 0, put: [], remove: [], who: WHO, summary: "" });

  const files = readdirSync(folder);
  expect(files).toContain("gateway.db-wal");
  for (const name of files) expect([name, mode(join(folder, name))]).toEqual([name, "600"]);
  expect(mode(folder)).toBe("700");
});

test("the embedded store creates a key for an empty store once, readable for the owner only", async () => {
  const database = sqliteDatabase();
  const first = await database.open(NO_KEY);
  const sealed = first.sealer.seal("x");
  await first.close();
  const text = readFileSync(keyOf(database), "utf8");

  expect(mode(keyOf(database))).toBe("600");
  expect((await database.open(NO_KEY)).sealer.open(sealed)).toBe("x");
  expect(readFileSync(keyOf(database), "utf8")).toBe(text);
});

test("the embedded store does not open without its key and creates no other", async () => {
  const database = sqliteDatabase();
  await (await database.open(NO_KEY)).close();
  rmSync(keyOf(database));
  await expect(database.open(NO_KEY)).rejects.toMatchObject({
    code: "key_missing",
    message: expect.stringContaining(keyOf(database)),
  });
  expect(existsSync(keyOf(database))).toBe(false);

  writeFileSync(keyOf(database), "cut off");
  await expect(database.open(NO_KEY)).rejects.toMatchObject({ code: "key_weak" });
});

test("the embedded store changes from the key file to the variable if the file's content is given as the old key", async () => {
  const database = sqliteDatabase();
  const first = await database.open(NO_KEY);
  const derived = first.sealer.derive("x");
  await first.close();
  await expect(database.open()).rejects.toMatchObject({ code: "key_wrong" });

  const old = readFileSync(keyOf(database), "utf8");
  const store = await database.open({
    env: { METAMCP_SECRET_KEY: database.secret, METAMCP_SECRET_KEY_OLD: old },
  });
  expect(store.sealer.derive("x")).toEqual(derived);
});

test("the embedded store warns if others can read the key", async () => {
  const database = sqliteDatabase();
  await (await database.open(NO_KEY)).close();
  chmodSync(keyOf(database), 0o644);
  const warnings: string[] = [];
  const nothing = () => {};
  const log = {
    debug: nothing,
    info: nothing,
    error: nothing,
    warn: (message: string) => warnings.push(message),
  };
  await database.open({ ...NO_KEY, log });
  expect(warnings).toEqual([expect.stringContaining("secret key")]);
});

test("the embedded store copies the file before a migration", async () => {
  const database = sqliteDatabase();
  const first = await database.open();
  await first.commit({ base: 0, put: [], remove: [], who: WHO, summary: "kept" });
  await first.close();
  const migrations = [...MIGRATIONS, () => ["DELETE FROM metamcp_revisions"]];
  const second = await database.open({ migrations, now: () => 0 });
  expect((await second.load()).revision).toBe(0);
  await second.close();

  const copy = `${fileOf(database)}.v${MIGRATIONS.length}.1970-01-01T00-00-00.000Z`;
  expect(mode(copy)).toBe("600");
  const old = await database.open({ url: `file:${copy}` });
  expect(await old.revisions()).toMatchObject([{ n: 1, summary: "kept" }]);
});

test("the embedded store migrates nothing if no copy can be made", async () => {
  const database = sqliteDatabase();
  await (await database.open()).close();
  mkdirSync(`${fileOf(database)}.v${MIGRATIONS.length}.1970-01-01T00-00-00.000Z`);
  const migrations = [...MIGRATIONS, () => ["CREATE TABLE metamcp_more (a TEXT)"]];
  await expect(database.open({ migrations, now: () => 0 })).rejects.toMatchObject({ code: "unavailable" });
  await database.open();
});

test("the embedded store does not change a file that is not a store", async () => {
  const database = sqliteDatabase();
  const text = "not a database, whatever it may be\n".repeat(100);
  writeFileSync(fileOf(database), text);

  await expect(database.open()).rejects.toMatchObject({ code: "foreign" });
  expect(readFileSync(fileOf(database), "utf8")).toBe(text);
});

test.each(["gateway.db", "mysql://x/y", "file:", ""])("the store rejects %j as its address", async (url) => {
  await expect(sqliteDatabase().open({ url })).rejects.toMatchObject({ code: "invalid" });
});

test("the embedded store is complete in one file after it is closed", async () => {
  const database = sqliteDatabase();
  const store = await database.open();
  await store.commit({ base: 0, put: [], remove: [], who: WHO, summary: "" });
  await store.close();
  const copy = `${fileOf(database)}.copy`;
  writeFileSync(copy, readFileSync(fileOf(database)));
  expect((await (await database.open({ url: `file:${copy}` })).load()).revision).toBe(1);
});

test("the embedded store is down while it cannot be written, and up after the next successful write", async () => {
  const database = sqliteDatabase();
  const store = await database.open();
  const states: boolean[] = [];
  store.onState(({ up }) => states.push(up));
  const other = await connect(fileOf(database));
  other.exec("BEGIN IMMEDIATE");
  await expect(store.records.put({ kind: "a", id: "a", value: 1 })).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(store.state).toMatchObject({ up: false, reason: expect.stringContaining("locked") });
  await expect(store.audit.append([{ at: 1, body: "1" }])).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(await store.load()).toMatchObject({ revision: 0 });

  other.exec("ROLLBACK");
  other.close();
  await store.records.put({ kind: "a", id: "a", value: 1 });
  expect(states).toEqual([false, true]);
});

test("the embedded store searches a long audit log in parts and finds old records", async () => {
  const store = await sqliteDatabase().open();
  for (let batch = 0; batch < 50; batch++)
    await store.audit.append(
      Array.from({ length: 500 }, (_, i) => ({ at: batch, body: JSON.stringify({ n: batch * 500 + i }) })),
    );

  expect((await store.audit.query({ members: { n: "3" } })).items).toMatchObject([{ seq: 4 }]);
  expect(await store.audit.prune(30)).toBe(15_000);
  expect(await store.audit.verify()).toEqual({ ok: true, count: 10_000 });
});

const MB = 1_048_576;
const DAY_MS = 86_400_000;

/** Writes and removes 40 MB of records. Returns the size of the file after that. */
async function sizeAfterRetention(database: TestDatabase): Promise<number> {
  const store = await database.open(NO_KEY);
  const batch = (at: number) =>
    Array.from({ length: 500 }, () => ({ at, body: `{"x":"${"y".repeat(2_048)}"}` }));
  for (let n = 0; n < 40; n++) await store.audit.append(batch(n));
  await store.audit.append([{ at: 2 * DAY_MS, body: "{}" }]);
  expect(await store.audit.prune(DAY_MS)).toBe(20_000);
  expect(await store.audit.verify()).toEqual({ ok: true, count: 1 });
  await store.close();
  return statSync(fileOf(database)).size;
}

test("the file shrinks after old audit records were removed", async () => {
  expect(await sizeAfterRetention(sqliteDatabase())).toBeLessThan(20 * MB);
});

test("a mostly empty file from before that shrinks when it is opened", async () => {
  const database = sqliteDatabase();
  await (await database.open(NO_KEY)).close();
  const old = await connect(fileOf(database));
  old.exec("PRAGMA auto_vacuum = NONE");
  old.exec("VACUUM");
  old.close();
  expect(await sizeAfterRetention(database)).toBeGreaterThan(30 * MB);
  const store = await database.open(NO_KEY);
  expect(await store.audit.verify()).toEqual({ ok: true, count: 1 });
  await store.close();
  expect(statSync(fileOf(database)).size).toBeLessThan(5 * MB);
});
