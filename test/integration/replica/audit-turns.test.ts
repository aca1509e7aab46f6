/**
 * Several replicas write one audit log: a slow one has its turn too, and one that is stopped holds nobody up.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { AuditTable } from "../../../src/store/audit.ts";
import { lockEnd, markEnd } from "../../../src/store/audit-end.ts";
import type { Database, Query } from "../../../src/store/database.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { onPostgres } from "../../support/replicas.ts";
import { atEnd } from "../../support/shared.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

const KEY = Buffer.alloc(32, 1);
/** Many times what a statement takes. */
const SLOW_MS = 30;

const record = (at: number) => [{ at, body: "{}" }];

async function connections(): Promise<() => Promise<Database>> {
  const where = await postgresDatabase();
  await (await where.open()).close();
  return async () => {
    const { database } = await openPostgres(where.url, () => {});
    atEnd(() => database.close());
    return database;
  };
}

/** A process that gets round to each answer late. */
function slowly(database: Database): Database {
  const late =
    (query: Query): Query =>
    async (sql, values) => {
      const answer = await query(sql, values);
      await pause(SLOW_MS);
      return answer;
    };
  return {
    dialect: database.dialect,
    query: late(database.query),
    transaction: (run, options) => database.transaction((query) => run(late(query)), options),
    close: () => database.close(),
  };
}

onPostgres("the audit log of replicas", () => {
  test("a slow one gets its records in beside fast ones, with few statements", async () => {
    const connect = await connections();
    await markEnd((await connect()).query, KEY);
    const fast = new AuditTable(await connect(), KEY);
    const slow = new AuditTable(slowly(await connect()), KEY);
    await fast.append(record(0));
    let isDone = false;
    const written = slow.append(record(1)).finally(() => {
      isDone = true;
    });
    for (let n = 2; !isDone; n++) await fast.append(record(n));
    expect((await written).statements).toBeLessThan(15);
    expect(await fast.verify()).toMatchObject({ ok: true });
  });

  test("one that is stopped while it has its turn holds the others up for a moment", async () => {
    const connect = await connections();
    const [stopped, other] = [await connect(), new AuditTable(await connect(), KEY)];
    await other.append(record(0));
    let goOn = (): void => {};
    const holds = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let has = (): void => {};
    const held = new Promise<void>((resolve) => {
      has = resolve;
    });
    const turn = stopped.transaction(async (query) => {
      await lockEnd(query, "postgres");
      has();
      await holds;
      await query("SELECT 1");
    });
    turn.catch(() => {});
    await held;
    await other.append(record(1));
    goOn();
    await expect(turn).rejects.toMatchObject({ code: "unavailable" });
  });
});
