import { expect, test } from "vitest";
import { AuditTable } from "./audit.ts";
import type { Database, SqlValue } from "./database.ts";
import { StoreError } from "./error.ts";

/** Only what appending asks of a database. The answer to the first insert is lost, and it arrives with the second. */
function lateDatabase() {
  const stored = new Map<SqlValue, readonly SqlValue[]>();
  let late: readonly SqlValue[] | undefined;
  const insert = (values: readonly SqlValue[]): number => {
    const [first = 0] = values;
    if (stored.has(first)) return 0;
    stored.set(first, values);
    return 1;
  };
  const database: Database = {
    dialect: "postgres",
    async query(sql, values = []) {
      if (!sql.startsWith("INSERT")) {
        const found = sql.includes("WHERE first") ? stored.get(values[0] ?? 0) : [...stored.values()].at(-1);
        return { rows: found ? [{ seq: found[1] ?? 0, hash: found[4] ?? "" }] : [], count: 0 };
      }
      if (!late) {
        late = values;
        throw new StoreError("unavailable", "the connection was lost");
      }
      insert(late);
      return { rows: [], count: insert(values) };
    },
    transaction: () => Promise.reject(new Error("not asked for")),
    close: () => Promise.resolve(),
  };
  return { database, stored };
}

test("a batch that arrives after it was looked for is not written twice", async () => {
  const { database, stored } = lateDatabase();
  const audit = new AuditTable(database, Buffer.alloc(32, 1));
  const records = [{ at: 1, body: "{}" }];
  await expect(audit.append(records)).rejects.toThrow("lost");
  await audit.append(records);
  expect([...stored.keys()]).toEqual([1]);
  await audit.append([{ at: 1, body: "{}" }]);
  expect([...stored.keys()]).toEqual([1, 2]);
});
