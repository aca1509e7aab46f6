/** Contract for the audit log of every store. */
import { describe, expect, test } from "vitest";
import { AUDIT_BATCH, type AuditQuery, type AuditRecord, type Store } from "./store.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

export function record(at: number, body: unknown = { at }): AuditRecord {
  return { at, body: JSON.stringify(body) };
}

/** Appends each record as its own batch. */
export async function appendEach(store: Store, records: readonly AuditRecord[]): Promise<void> {
  for (const one of records) await store.audit.append([one]);
}

export const times = async (store: Store, query?: AuditQuery) =>
  (await store.audit.query(query)).items.map(({ at }) => at);

export function auditContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`audit in ${name}`, () => {
    test("returns records newest first, also after the store is opened again", async () => {
      const where = await database();
      const first = await where.open();
      await first.audit.append([record(1, { text: "\0 \uD800" }), record(2)]);
      await first.audit.append([]);
      await first.close();
      const store = await where.open();
      await store.audit.append([record(3)]);

      const { items, nextCursor } = await store.audit.query();
      expect(nextCursor).toBeUndefined();
      expect(items).toMatchObject([
        { seq: 3, at: 3 },
        { seq: 2, at: 2 },
        { seq: 1, at: 1, body: { text: "\0 \uD800" } },
      ]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 3 });
    });

    test("writes a batch with one insert", async () => {
      const statements: string[] = [];
      const store = await (await database()).open({ onStatement: (sql) => statements.push(sql) });
      const batch = () => Array.from({ length: AUDIT_BATCH }, (_, i) => record(i));
      await store.audit.append(batch());
      const ours = () => statements.filter((sql) => sql.includes("metamcp_audit")).length;
      const before = ours();
      await store.audit.append(batch());

      expect(ours() - before).toBe(1);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 2 * AUDIT_BATCH });
      await expect(store.audit.append([...batch(), record(0)])).rejects.toMatchObject({ code: "invalid" });
    });

    test.each([
      ["one batch", 30],
      ["batches of four", 4],
      ["batches of one", 1],
    ])("finds records by members and by time, in pages, in %s", async (_, size) => {
      const store = await (await database()).open();
      const all = Array.from({ length: 30 }, (_, i) =>
        record(i, { tool: { name: i % 3 ? "x" : "y" }, outcome: i % 2 ? "ok" : "refused", n: i }),
      );
      for (let at = 0; at < all.length; at += size) await store.audit.append(all.slice(at, at + size));

      expect(await times(store, { members: { "tool.name": "y", outcome: "ok" } })).toEqual([
        27, 21, 15, 9, 3,
      ]);
      expect(await times(store, { members: { n: "7" } })).toEqual([7]);
      const whole = await times(store, { members: { "tool.name": "y" } });
      expect(await times(store, { containing: { "tool.name": "Y" } })).toEqual(whole);
      expect(await times(store, { containing: { "tool.name": "" }, members: { n: "7" } })).toEqual([7]);
      expect(await times(store, { containing: { "tool.name": "Ä" } })).toEqual([]);
      for (const members of [{ "tool.name": "z" }, { tool: "y" }, { none: "y" }, { name: "y" }, { n: "" }])
        expect(await times(store, { members })).toEqual([]);
      expect(await times(store, { from: 5, to: 8 })).toEqual([7, 6, 5]);
      expect(await times(store, { after: 27 })).toEqual([29, 28, 27]);
      expect(await times(store, { after: 30 })).toEqual([]);

      const query = { members: { "tool.name": "y" }, limit: 4 };
      const pages: number[][] = [];
      for (let cursor: number | undefined = Number.MAX_SAFE_INTEGER; cursor !== undefined; ) {
        const page = await store.audit.query({ ...query, cursor });
        pages.push(page.items.map(({ at }) => at));
        cursor = page.nextCursor;
      }
      expect(pages).toEqual([
        [27, 24, 21, 18],
        [15, 12, 9, 6],
        [3, 0],
      ]);
    });

    test("finds and verifies records with a shared head", async () => {
      const where = await database();
      const store = await where.open();
      const called = (at: number, who: string): AuditRecord => ({
        at,
        head: `{"who":{"name":"${who}"},"tool":"t"`,
        body: `,"n":${at}}`,
      });
      await store.audit.append(["a", "b", "a", "b", "a"].map((who, at) => called(at, who)));
      await store.audit.append([called(5, "b")]);

      expect(await times(store, { members: { "who.name": "a" } })).toEqual([4, 2, 0]);
      expect(await times(store, { members: { "who.name": "b", tool: "t", n: "3" } })).toEqual([3]);
      const { items } = await store.audit.query({ members: { n: "4" } });
      expect(items).toMatchObject([{ seq: 5, body: { who: { name: "a" }, tool: "t", n: 4 } }]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 6 });
      await where.sql(
        `UPDATE metamcp_audit SET lines = replace(lines, '"name":"a"', '"name":"c"') WHERE first = 1`,
      );
      expect(await store.audit.verify()).toMatchObject({ ok: false, seq: 1 });
    });

    test("returns all records after a given one, even in the middle of a batch", async () => {
      const store = await (await database()).open();
      const all = Array.from({ length: AUDIT_BATCH }, (_, i) => record(i));
      for (let batch = 0; batch < 21; batch++) await store.audit.append(all);
      for (const after of [200, 499, 500, 501]) {
        const { items } = await store.audit.query({ after, limit: 20_000 });
        expect([items.length, items.at(-1)?.seq]).toEqual([21 * AUDIT_BATCH - after, after + 1]);
      }
    });

    test("stores and finds records with special characters", async () => {
      const store = await (await database()).open();
      const odd = ["a\0b", "\uD800", "' OR 1=1", '"', "\\u0000", "$.x", "%", "a\nb", "__proto__"];
      await store.audit.append(odd.map((tool, i) => record(i, { tool, [tool]: "x" })));

      for (const [i, tool] of odd.entries()) expect(await times(store, { members: { tool } })).toEqual([i]);
      expect(await times(store, { members: { "' OR 1=1": "x" } })).toEqual([2]);
      expect(await times(store, { members: { "constructor.name": "Object" } })).toEqual([]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: odd.length });
    });

    test("stays one chain with concurrent appends", async () => {
      const where = await database();
      const store = await where.open();
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.audit.append([record(i), record(i)])));
      expect(await store.audit.verify()).toEqual({ ok: true, count: 40 });
    });

    test.each([
      [
        "a changed record",
        "UPDATE metamcp_audit SET lines = replace(lines, '{\"at\":2}', '{}')",
        3,
        "changed",
      ],
      ["a changed time", "UPDATE metamcp_audit SET lines = replace(lines, ' 4 3 ', ' 4 9 ')", 4, "changed"],
      ["a removed batch", "DELETE FROM metamcp_audit WHERE first = 3", 3, "missing"],
      ["a removed beginning", "DELETE FROM metamcp_audit WHERE first = 1", 1, "missing"],
      ["a removed end", "DELETE FROM metamcp_audit WHERE first = 5", 5, "missing"],
      ["a removed log", "DELETE FROM metamcp_audit", 1, "missing"],
      ["a changed seal", "UPDATE metamcp_audit SET seal = 'x' WHERE first = 3", 4, "changed"],
      ["a changed end", "UPDATE metamcp_audit SET hash = 'x' WHERE first = 3", 4, "changed"],
      ["an older time in the table", "UPDATE metamcp_audit SET until = 0 WHERE first = 3", 4, "time"],
      ["a newer time in the table", "UPDATE metamcp_audit SET since = 9 WHERE first = 3", 4, "time"],
      [
        "a mark of retention",
        "INSERT INTO metamcp_meta (name, value) VALUES ('audit-anchor', '{')",
        1,
        "mark",
      ],
      ["an empty mark", "INSERT INTO metamcp_meta (name, value) VALUES ('audit-anchor', 'null')", 1, "mark"],
    ])("verify detects %s", async (_, statement, seq, reason) => {
      const where = await database();
      const store = await where.open();
      for (const at of [0, 2, 4]) await store.audit.append([record(at), record(at + 1)]);
      await where.sql(statement);

      expect(await store.audit.verify()).toEqual({ ok: false, seq, reason: expect.stringContaining(reason) });
    });

    test("verify detects a retention mark made from the seal of a batch", async () => {
      const where = await database();
      const store = await where.open();
      await appendEach(
        store,
        Array.from({ length: 6 }, (_, i) => record(i)),
      );
      // The seal of a batch can be read, but is not valid as a retention mark.
      const [end] = await where.sql("SELECT seq, hash, seal FROM metamcp_audit WHERE seq = 2");
      await where.sql(
        `INSERT INTO metamcp_meta (name, value) VALUES ('audit-anchor', '${JSON.stringify({ ...end, seq: 2 })}')`,
      );
      await where.sql("DELETE FROM metamcp_audit WHERE seq <= 2");
      expect(await store.audit.verify()).toMatchObject({
        ok: false,
        reason: expect.stringContaining("mark"),
      });
    });

    test("prune deletes only old records, and the log can still be verified and continued", async () => {
      const where = await database();
      const store = await where.open();
      await appendEach(
        store,
        Array.from({ length: 10 }, (_, i) => record(i)),
      );
      expect(await store.audit.prune(4)).toBe(4);
      expect(await store.audit.prune(4)).toBe(0);
      expect(await times(store)).toEqual([9, 8, 7, 6, 5, 4]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 6 });

      await where.sql("DELETE FROM metamcp_audit WHERE seq = 5");
      expect(await store.audit.verify()).toMatchObject({ ok: false, seq: 5 });

      expect(await store.audit.prune(1_000)).toBe(4);
      await store.audit.append([record(11)]);
      expect(await times(store)).toEqual([11, 9]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 2 });
      await store.close();
      const again = await where.open();
      await again.audit.append([record(12)]);
      expect(await again.audit.verify()).toEqual({ ok: true, count: 3 });
    });

    test("prune keeps records that were made to look old", async () => {
      const where = await database();
      const store = await where.open();
      for (const at of [1, 2, 100, 101, 102]) await store.audit.append([record(at)]);
      await where.sql("UPDATE metamcp_audit SET until = 0, since = 0 WHERE seq = 3");
      await where.sql(
        "UPDATE metamcp_audit SET lines = replace(lines, ' 4 101 ', ' 4 1 '), until = 1 WHERE seq = 4",
      );
      expect(await store.audit.prune(50)).toBe(2);
      expect(await times(store)).toEqual([102, 1, 100]);
      expect(await store.audit.verify()).toMatchObject({ ok: false, seq: 3 });
      await store.audit.append([record(200)]);
      expect(await store.audit.prune(150)).toBe(3);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 1 });
    });

    test("prune keeps a batch while one of its records is new enough", async () => {
      const store = await (await database()).open();
      await store.audit.append([record(1)]);
      await store.audit.append([record(1), record(9), record(2)]);
      await store.audit.append([record(3)]);
      await store.audit.append([record(10)]);
      expect(await store.audit.prune(5)).toBe(1);
      expect(await times(store)).toEqual([10, 3, 2, 9, 1]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 5 });
      expect(await store.audit.prune(10)).toBe(4);
      expect(await times(store)).toEqual([10]);
    });
  });
}
