/** Several gateways on one Postgres, and a Postgres that becomes unreachable and returns. */
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import type { AuditRecord, NewObject, Store, StoreChange } from "../../../src/store/store.ts";
import { cutProxy } from "../../support/cut-proxy.ts";
import {
  at,
  noPostgres,
  postgresAddress,
  postgresDatabase,
  type TestDatabase,
} from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const WHO = { kind: "user", id: "u1", name: "Ada" };

async function commit(store: Store, base: number): Promise<void> {
  const object: NewObject = {
    kind: "server",
    uuid: "a",
    name: "a",
    nameKey: "a",
    spec: { base },
    managedBy: "api",
  };
  await store.commit({ base, put: [object], remove: [], who: WHO, summary: "" });
}

function changesSeenBy(store: Store): StoreChange[] {
  const changes: StoreChange[] = [];
  store.onChange((change) => changes.push(change));
  return changes;
}

/** Connections of the test's own schema. */
const CONNECTIONS = "pg_stat_activity WHERE application_name = current_schema() AND pid <> pg_backend_pid()";

const listening = async (database: TestDatabase) =>
  (await database.sql(`SELECT 1 FROM ${CONNECTIONS} AND query = 'LISTEN metamcp'`)).length;

if (noPostgres !== undefined) test.skip(`left out, because no Postgres answers: ${noPostgres}`, () => {});

describe.skipIf(noPostgres !== undefined)("several gateways on one Postgres", () => {
  test("can start at the same time on an empty store", async () => {
    const database = await postgresDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => database.open()));

    const derived = stores.map(({ sealer }) => sealer.derive("x").toString("hex"));
    expect(new Set(derived).size).toBe(1);
    expect(await database.sql("SELECT n FROM metamcp_migrations")).toHaveLength(MIGRATIONS.length);
  });

  test("reject writes with a key that another gateway has replaced", async () => {
    const database = await postgresDatabase();
    const old = await database.open();
    await commit(old, 0);
    await old.records.put({ kind: "grant", id: "g", value: { token: old.sealer.seal("one") } });
    const env = {
      METAMCP_SECRET_KEY: "another-secret-for-tests-9876543210-zyx",
      METAMCP_SECRET_KEY_OLD: database.secret,
    };
    const renewed = await database.open({ env });
    const wrong = expect.objectContaining({ code: "key_wrong" });
    await expect(commit(old, 1)).rejects.toEqual(wrong);
    await expect(old.records.put({ kind: "grant", id: "h", value: old.sealer.seal("two") })).rejects.toEqual(
      wrong,
    );
    expect((await old.load()).revision).toBe(1);
    await commit(renewed, 1);
    const grant = (await renewed.records.get("grant", "g"))?.value as { token: string };
    expect(renewed.sealer.open(grant.token)).toBe("one");
  });

  test("lose no sealed value while the key is replaced", async () => {
    const database = await postgresDatabase();
    const old = await database.open();
    const writing = (async () => {
      for (let n = 0; ; n++)
        try {
          await old.records.put({ kind: "grant", id: `g${n}`, value: { token: old.sealer.seal(`${n}`) } });
        } catch (error) {
          return { written: n, error };
        }
    })();
    await until(async () => (await old.records.list("grant")).length > 5);
    const env = {
      METAMCP_SECRET_KEY: "another-secret-for-tests-9876543210-zyx",
      METAMCP_SECRET_KEY_OLD: database.secret,
    };
    const renewed = await database.open({ env });
    const { written, error } = await writing;
    expect(error).toMatchObject({ code: "key_wrong" });
    const grants = await renewed.records.list("grant");
    expect(grants).toHaveLength(written);
    for (const { value } of grants)
      expect(renewed.sealer.open((value as { token: string }).token)).toMatch(/^\d+$/);
  });

  test("are notified of each other's changes without polling", async () => {
    const database = await postgresDatabase();
    const clock = new ManualClock();
    const listener = await database.open({ clock });
    await until(async () => (await listening(database)) === 1, { what: "it to listen" });
    const changesOfOthers = changesSeenBy(listener);
    const writer = await database.open();

    await commit(writer, 0);
    await until(() => changesOfOthers.length === 1);
    await writer.records.delete("key", "revoked");
    await until(() => changesOfOthers.length === 2);
    expect(changesOfOthers).toEqual([
      { of: "config", revision: 1 },
      { of: "records", kind: "key" },
    ]);
    expect(clock.now()).toBe(0);
  });

  test("find each other's changes by polling if notifications fail", async () => {
    const database = await postgresDatabase();
    await database.sql("CREATE FUNCTION pg_notify(text, text) RETURNS text LANGUAGE sql AS $$ SELECT '' $$");
    const clock = new ManualClock();
    const listener = await database.open({ clock });
    await until(() => clock.pending > 1);
    const changesOfOthers = changesSeenBy(listener);
    const writer = await database.open({ clock: new ManualClock() });
    await commit(writer, 0);
    await writer.records.put({ kind: "key", id: "a", value: 1 });
    expect(changesOfOthers).toEqual([]);

    // There are two polls per second.
    clock.advance(500);
    await until(() => changesOfOthers.length === 2);
    expect(changesOfOthers).toEqual(
      expect.arrayContaining([
        { of: "config", revision: 1 },
        { of: "records", kind: "key" },
      ]),
    );
  });

  test("accept one of two concurrent commits and write one audit chain", async () => {
    const database = await postgresDatabase();
    const [a, b] = await Promise.all([database.open(), database.open()]);
    for (let base = 0; base < 5; base++) {
      const results = await Promise.allSettled([commit(a, base), commit(b, base)]);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(results.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "conflict" },
      });
    }
    const record = (at: number): AuditRecord => ({ at, body: String(at) });
    await Promise.all(
      [a, b].flatMap((store) =>
        Array.from({ length: 15 }, (_, i) => store.audit.append([record(i), record(i)])),
      ),
    );
    expect(await a.audit.verify()).toEqual({ ok: true, count: 60 });
  });

  test("append after a batch of another gateway with two statements", async () => {
    const database = await postgresDatabase();
    const statements: string[] = [];
    const [a, b] = [
      await database.open({ onStatement: (sql) => statements.push(sql) }),
      await database.open(),
    ];
    let at = 0;
    const append = (store: Store) => store.audit.append([{ at: ++at, body: "{}" }]);
    await append(a);
    for (let round = 0; round < 5; round++) {
      await append(b);
      const before = statements.length;
      expect((await append(a)).statements).toBe(2);
      expect(statements.slice(before).filter((sql) => sql.includes("metamcp_audit"))).toHaveLength(2);
      expect((await append(a)).statements).toBe(1);
    }
    expect(await b.audit.verify()).toEqual({ ok: true, count: 16 });
  });

  test("continue the audit chain after the records that an idle gateway knew were pruned", async () => {
    const database = await postgresDatabase();
    const [idle, busy] = await Promise.all([database.open(), database.open()]);
    const append = (store: Store, at: number) => store.audit.append([{ at, body: String(at) }]);
    await append(idle, 1);
    for (const at of [2, 3, 4]) await append(busy, at);
    expect(await busy.audit.prune(4)).toBe(3);

    await append(idle, 5);
    await append(busy, 6);
    expect((await busy.audit.query()).items.map(({ at }) => at)).toEqual([6, 5, 4]);
    expect(await busy.audit.verify()).toEqual({ ok: true, count: 3 });
  });

  test("see each foreign change once and in order", async () => {
    const database = await postgresDatabase();
    const [a, b] = await Promise.all([database.open(), database.open()]);
    const changesOfOthers = changesSeenBy(a);
    for (let base = 0; base < 6; base++) await commit(base % 2 ? a : b, base);
    await until(() => changesOfOthers.some((change) => change.of === "config" && change.revision === 6));
    const revisions = changesOfOthers.map((change) => (change.of === "config" ? change.revision : 0));
    expect(revisions).toEqual([...new Set(revisions)].sort((x, y) => x - y));
  });
});

describe.skipIf(noPostgres !== undefined)("a store whose Postgres is unreachable", () => {
  async function behindProxy() {
    const proxy = await cutProxy(postgresAddress());
    const address = new URL(postgresAddress().url);
    address.host = `127.0.0.1:${proxy.port}`;
    const database = await postgresDatabase(address.href);
    const direct = at(
      database.url.replace(`127.0.0.1:${proxy.port}`, postgresAddress().url.host),
      database.home,
    );
    return { proxy, database, direct };
  }

  test("rejects writes, reconnects by itself, and reports the changes it missed", async () => {
    const { proxy, database, direct } = await behindProxy();
    const store = await database.open();
    const other = await direct.open();
    await commit(store, 0);
    const states: boolean[] = [];
    store.onState(({ up }) => states.push(up));
    const changesOfOthers = changesSeenBy(store);

    for (let round = 1; round <= 2; round++) {
      await proxy.cut();
      await until(() => !store.state.up);
      expect(store.state).toMatchObject({ reason: expect.stringContaining("Postgres") });
      await expect(commit(store, round)).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.records.put({ kind: "a", id: "a", value: 1 })).rejects.toMatchObject({
        code: "unavailable",
      });
      await expect(store.audit.append([{ at: 1, body: "1" }])).rejects.toMatchObject({
        code: "unavailable",
      });
      await commit(other, round);
      await other.records.put({ kind: "key", id: `${round}`, value: "revoked" });

      await proxy.mend();
      await until(() => store.state.up);
      expect(changesOfOthers.splice(0)).toEqual(
        expect.arrayContaining([
          { of: "config", revision: round + 1 },
          { of: "records", kind: "key" },
        ]),
      );
    }
    await commit(store, 3);
    expect(states).toEqual([false, true, false, true]);
  });

  test("listens for notifications again after it reconnected", async () => {
    const { proxy, database } = await behindProxy();
    const store = await database.open();
    await until(async () => (await listening(database)) === 1);
    await proxy.cut();
    await until(() => !store.state.up);
    await until(async () => (await listening(database)) === 0);
    await proxy.mend();
    await until(async () => (await listening(database)) === 1);
  });

  test("rejects running statements at whatever moment the connection is cut", async () => {
    const { proxy, database, direct } = await behindProxy();
    const store = await database.open();
    let base = 0;
    for (let round = 0; round < 6; round++) {
      const writes = Array.from({ length: 4 }, (_, i) =>
        store.records.put({ kind: "k", id: `${i}`, value: round }),
      );
      const committing = commit(store, base);
      for (let turn = 0; turn < round * 3; turn++) await new Promise(setImmediate);
      await proxy.cut();
      for (const result of await Promise.allSettled([...writes, committing]))
        if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "unavailable" });
      await proxy.mend();
      await until(() => store.state.up);
      base = (await store.load()).revision;
    }
    expect((await (await direct.open()).load()).revision).toBe(base);
  });

  test("writes an audit batch once although its confirmation was lost", async () => {
    const { proxy, database } = await behindProxy();
    const store = await database.open();
    const batch: AuditRecord[] = [1, 2, 3].map((at) => ({ at, body: String(at) }));
    await store.audit.append([{ at: 0, body: "0" }]);
    const arrived = async () => (await database.sql("SELECT 1 FROM metamcp_audit")).length === 2;

    proxy.loseAnswers();
    await expect(store.audit.append(batch)).rejects.toMatchObject({ code: "unavailable" });
    await proxy.cut();
    await proxy.mend();
    await until(() => store.state.up);
    // Otherwise the answer of another statement was lost, and this would prove nothing.
    expect(await arrived()).toBe(true);
    await store.audit.append(batch);
    await store.audit.append([{ at: 4, body: "4" }]);
    expect(await store.audit.verify()).toEqual({ ok: true, count: 5 });
  });

  test("recovers after the server closed all connections", async () => {
    const { database } = await behindProxy();
    const store = await database.open();
    await commit(store, 0);
    await database.sql(`SELECT pg_terminate_backend(pid) FROM ${CONNECTIONS}`);
    await until(() =>
      store.load().then(
        () => true,
        () => false,
      ),
    );
    await until(() =>
      commit(store, 1).then(
        () => true,
        () => false,
      ),
    );
  });

  test("fails immediately if it is unreachable at the start", async () => {
    const { proxy, database } = await behindProxy();
    await proxy.cut();
    await expect(database.open()).rejects.toMatchObject({ code: "unavailable" });
  });

  test("needs the variable with the secret key", async () => {
    const { database } = await behindProxy();
    await expect(database.open({ env: {} })).rejects.toMatchObject({
      code: "key_missing",
      message: expect.stringContaining("METAMCP_SECRET_KEY"),
    });
  });
});
