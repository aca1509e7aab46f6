/** What the audit log of every store must do. */
import { describe, expect, test } from "vitest";
import type { StorePlace } from "./place.contract.ts";
import { AUDIT_BATCH, type AuditQuery, type AuditRecord, type Store } from "./store.ts";

function record(at: number, fields: Record<string, string> = {}, body: unknown = { at }): AuditRecord {
  return { at, fields, body: JSON.stringify(body) };
}

const times = async (store: Store, query?: AuditQuery) =>
  (await store.audit.query(query)).items.map(({ at }) => at);

export function auditContract(name: string, place: () => Promise<StorePlace>): void {
  describe(`audit in ${name}`, () => {
    test("keeps records in the order they came, newest first, and after it is opened again", async () => {
      const where = await place();
      const first = await where.open();
      await first.audit.append([record(1, { tool: "a" }, { text: "\0 \uD800" }), record(2)]);
      await first.audit.append([]);
      await first.close();
      const store = await where.open();
      await store.audit.append([record(3)]);

      const { items, nextCursor } = await store.audit.query();
      expect(nextCursor).toBeUndefined();
      expect(items).toMatchObject([
        { seq: 3, at: 3 },
        { seq: 2, at: 2 },
        { seq: 1, at: 1, fields: { tool: "a" }, body: { text: "\0 \uD800" } },
      ]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 3 });
    });

    test("takes a batch by one statement", async () => {
      const statements: string[] = [];
      const store = await (await place()).open({ onStatement: (sql) => statements.push(sql) });
      const batch = () => Array.from({ length: AUDIT_BATCH }, (_, i) => record(i));
      await store.audit.append(batch());
      const ours = () => statements.filter((sql) => sql.includes("metamcp_audit")).length;
      const before = ours();
      await store.audit.append(batch());

      expect(ours() - before).toBe(1);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 2 * AUDIT_BATCH });
      await expect(store.audit.append([...batch(), record(0)])).rejects.toMatchObject({ code: "invalid" });
    });

    test("finds by fields and by time, in pages", async () => {
      const store = await (await place()).open();
      await store.audit.append(
        Array.from({ length: 30 }, (_, i) =>
          record(i, { tool: i % 3 ? "x" : "y", outcome: i % 2 ? "ok" : "refused" }),
        ),
      );

      expect(await times(store, { fields: { tool: "y", outcome: "ok" } })).toEqual([27, 21, 15, 9, 3]);
      expect(await times(store, { fields: { tool: "z" } })).toEqual([]);
      expect(await times(store, { fields: { nothing: "z" } })).toEqual([]);
      expect(await times(store, { from: 5, to: 8 })).toEqual([7, 6, 5]);
      expect(await times(store, { after: 27 })).toEqual([29, 28, 27]);
      expect(await times(store, { after: 30 })).toEqual([]);

      const query = { fields: { tool: "y" }, limit: 4 };
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

    test("is not harmed by what strangers write into fields", async () => {
      const store = await (await place()).open();
      const odd = ["a\0b", "\uD800", "' OR 1=1", '"', "\\u0000", "$.x", "%"];
      await store.audit.append(odd.map((tool, i) => record(i, { tool, [tool]: "x" }, { tool })));

      for (const [i, tool] of odd.entries()) expect(await times(store, { fields: { tool } })).toEqual([i]);
      expect(await times(store, { fields: { "' OR 1=1": "x" } })).toEqual([2]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: odd.length });
    });

    test("stays one chain when many write at once", async () => {
      const where = await place();
      const store = await where.open();
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.audit.append([record(i), record(i)])));
      expect(await store.audit.verify()).toEqual({ ok: true, count: 40 });
    });

    test.each([
      ["a changed record", "UPDATE metamcp_audit SET body = '{\"x\":1}' WHERE seq = 3", 3, "changed"],
      ["a changed time", "UPDATE metamcp_audit SET at = 99 WHERE seq = 4", 4, "changed"],
      ["a removed record", "DELETE FROM metamcp_audit WHERE seq = 2", 2, "missing"],
      ["a removed beginning", "DELETE FROM metamcp_audit WHERE seq <= 2", 1, "missing"],
      ["a removed end", "DELETE FROM metamcp_audit WHERE seq >= 5", 5, "missing"],
      ["a removed log", "DELETE FROM metamcp_audit", 1, "missing"],
    ])("notices %s", async (_, statement, seq, reason) => {
      const where = await place();
      const store = await where.open();
      await store.audit.append(Array.from({ length: 6 }, (_, i) => record(i)));
      await where.sql(statement);

      expect(await store.audit.verify()).toEqual({ ok: false, seq, reason: expect.stringContaining(reason) });
    });

    test("notices a chain that was made to fit without the key", async () => {
      const where = await place();
      const store = await where.open();
      await store.audit.append(Array.from({ length: 6 }, (_, i) => record(i)));
      const [{ hash } = { hash: "" }] = await where.sql("SELECT hash FROM metamcp_audit WHERE seq = 2");
      await where.sql(
        `INSERT INTO metamcp_meta (name, value) VALUES ('audit-anchor', '${JSON.stringify({ seq: 2, hash })}')`,
      );
      await where.sql("DELETE FROM metamcp_audit WHERE seq <= 2");
      expect(await store.audit.verify()).toMatchObject({
        ok: false,
        reason: expect.stringContaining("mark"),
      });
    });

    test("loses old records only, and can still be verified and continued", async () => {
      const where = await place();
      const store = await where.open();
      await store.audit.append(Array.from({ length: 10 }, (_, i) => record(i)));
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

    test("keeps a record that is late among younger ones", async () => {
      const store = await (await place()).open();
      await store.audit.append([record(1), record(9), record(2), record(10)]);
      expect(await store.audit.prune(5)).toBe(1);
      expect(await times(store)).toEqual([10, 2, 9]);
      expect(await store.audit.verify()).toEqual({ ok: true, count: 3 });
    });
  });
}
