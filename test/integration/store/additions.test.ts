/**
 * What this version adds to a store changes no table of 0.2.0, which therefore runs beside it during an
 * update.
 */
import { describe, expect, test } from "vitest";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";

/** Everything that a statement of 0.2.0 could meet, by table. */
const DEFINED = {
  SQLite: "SELECT tbl_name AS of, sql AS what FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1, 2",
  Postgres: `SELECT table_name AS of, row_to_json(c)::text AS what FROM information_schema.columns AS c
      WHERE table_schema = current_schema()
    UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION ALL SELECT tablename, definition FROM pg_rules WHERE schemaname = current_schema()
    UNION ALL SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace
    UNION ALL SELECT event_object_table, action_statement FROM information_schema.triggers
      WHERE trigger_schema = current_schema()
    ORDER BY 1, 2`,
};

describe.each([
  ["SQLite", async () => sqliteDatabase(), undefined],
  ["Postgres", () => postgresDatabase(), noPostgres],
] as const)("additions in %s", (dialect, database, missing) => {
  test.skipIf(missing)("leave the tables of 0.2.0 as they were", async () => {
    const where = await database();
    await (await where.open({ additions: [] })).close();
    const before = await where.sql(DEFINED[dialect]);
    const tables = new Set(before.map(({ of }) => of));
    expect([...tables]).toContain("metamcp_records");
    await (await where.open()).close();
    const after = await where.sql(DEFINED[dialect]);
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.filter(({ of }) => tables.has(of))).toEqual(before);
  });
});
