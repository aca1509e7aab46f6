import { expect, test } from "vitest";
import { AuditTable } from "./audit.ts";
import { AuditChain, EMPTY_CHAIN } from "./audit-chain.ts";
import { endMark } from "./audit-end.ts";
import type { Database, SqlRow, SqlValue } from "./database.ts";
import { StoreError } from "./error.ts";

const KEY = Buffer.alloc(32, 1);

/**
 * Implements only the statements of `append`. The first insert fails without an answer, and takes effect
 * before or after the first transaction.
 */
function lateDatabase(when: "before" | "after") {
  const stored = new Map<SqlValue, SqlRow>();
  let mark: SqlValue = endMark(new AuditChain(KEY), EMPTY_CHAIN).text;
  let late: readonly SqlValue[] | undefined;
  const insert = (values: readonly SqlValue[]): void => {
    const [after = null, before, first = null, seq = null, , , hash = null] = values;
    if (before !== mark) return;
    mark = after;
    stored.set(first, { seq, hash });
  };
  const database: Database = {
    dialect: "postgres",
    async query(sql, values = []) {
      if (sql.startsWith("SELECT value")) return { rows: [{ value: mark }], count: 1 };
      if (sql.startsWith("SELECT")) {
        const found = sql.includes("WHERE first") ? stored.get(values[0] ?? 0) : [...stored.values()].at(-1);
        return { rows: found ? [found] : [], count: 0 };
      }
      if (!late) {
        late = values;
        throw new StoreError("unavailable", "the connection was lost");
      }
      insert(values);
      return { rows: [{ value: mark }], count: 1 };
    },
    async transaction(run) {
      if (when === "before") insert(late ?? []);
      const result = await run(database.query);
      if (when === "after") insert(late ?? []);
      return result;
    },
    close: () => Promise.resolve(),
  };
  return { database, stored };
}

test.each(["before", "after"] as const)(
  "a batch that arrives late, %s it is sent again, is not written twice",
  async (when) => {
    const { database, stored } = lateDatabase(when);
    const audit = new AuditTable(database, KEY);
    const records = [{ at: 1, body: "{}" }];
    await expect(audit.append(records)).rejects.toThrow("lost");
    await audit.append(records);
    expect([...stored.keys()]).toEqual([1]);
    await audit.append([{ at: 1, body: "{}" }]);
    expect([...stored.keys()]).toEqual([1, 2]);
  },
);
