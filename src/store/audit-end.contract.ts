/** Contract for the end mark of the audit log of every store. */
import { describe, expect, test } from "vitest";
import { appendEach, record, times } from "./audit.contract.ts";
import { open, readKey, seal } from "./seal.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

/** Takes a closed store back to version 1, which had no end mark. */
async function withoutEndMark(database: StoreDatabase): Promise<void> {
  const [row] = await database.sql("SELECT value FROM metamcp_meta WHERE name = 'root-secret'");
  const key = readKey(database.secret, "key");
  const [secret = ""] = open(key, String(row?.["value"])).split(" ");
  await database.sql(`UPDATE metamcp_meta SET value = '${seal(key, secret)}' WHERE name = 'root-secret'`);
  await database.sql("DELETE FROM metamcp_meta WHERE name = 'audit-end'");
  await database.sql("DELETE FROM metamcp_migrations WHERE n > 1");
}

export function auditEndContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`verify of the audit log in ${name}`, () => {
    test.each([
      ["the last batch", "DELETE FROM metamcp_audit WHERE first = 5", 5],
      ["all batches", "DELETE FROM metamcp_audit", 1],
    ])("detects %s removed while no gateway ran, until the gap is pruned", async (_, cut, seq) => {
      const where = await database();
      const first = await where.open();
      for (const at of [0, 2, 4]) await first.audit.append([record(at), record(at + 1)]);
      await first.close();
      await where.sql(cut);

      const missing = { ok: false, seq, reason: `record ${seq} is missing` };
      const second = await where.open();
      expect(await second.audit.verify()).toEqual(missing);
      await second.audit.append([record(6)]);
      await second.close();
      const third = await where.open();
      await third.audit.append([record(7)]);
      expect(await times(third, { after: 6 })).toEqual([7, 6]);
      expect(await third.audit.verify()).toEqual(missing);

      await third.audit.prune(7);
      expect(await third.audit.verify()).toEqual({ ok: true, count: 1 });
    });

    test.each([
      ["removed", () => "DELETE FROM metamcp_meta WHERE name = 'audit-end'"],
      ["replaced by other text", () => "UPDATE metamcp_meta SET value = '{' WHERE name = 'audit-end'"],
      [
        "made from the keyed hash of a batch",
        (end: unknown) => `UPDATE metamcp_meta SET value = '${JSON.stringify(end)}' WHERE name = 'audit-end'`,
      ],
    ])("detects the last batch removed and the end mark %s", async (_, forge) => {
      const where = await database();
      const first = await where.open();
      for (const at of [0, 2, 4]) await first.audit.append([record(at), record(at + 1)]);
      await first.close();
      const [row] = await where.sql("SELECT hash, seal FROM metamcp_audit WHERE first = 3");
      await where.sql("DELETE FROM metamcp_audit WHERE first = 5");
      await where.sql(forge({ ...row, seq: 4 }));

      const second = await where.open();
      expect(await second.audit.verify()).toEqual({
        ok: false,
        seq: 5,
        reason: "the end mark was changed or removed",
      });
      await second.audit.append([record(6)]);
      expect(await second.audit.verify()).toEqual({ ok: false, seq: 5, reason: "record 5 is missing" });
    });

    test("detects that all batches and all marks were removed", async () => {
      const where = await database();
      const first = await where.open();
      await first.audit.append([record(1)]);
      await first.close();
      await where.sql("DELETE FROM metamcp_audit");
      await where.sql("DELETE FROM metamcp_meta WHERE name LIKE 'audit-%'");

      const second = await where.open();
      expect(await second.audit.verify()).toMatchObject({ ok: false, seq: 1 });
      await second.audit.append([record(2)]);
      expect(await second.audit.verify()).toMatchObject({ ok: false, seq: 1 });
    });

    test("detects that the last batch was replaced by one that was written before a copy was restored", async () => {
      const where = await database();
      const first = await where.open();
      await first.audit.append([record(1)]);
      const [mark] = await where.sql("SELECT value FROM metamcp_meta WHERE name = 'audit-end'");
      await first.audit.append([record(2)]);
      await first.close();
      await where.sql("UPDATE metamcp_audit SET first = -2 WHERE first = 2");
      await where.sql(
        `UPDATE metamcp_meta SET value = '${String(mark?.["value"])}' WHERE name = 'audit-end'`,
      );
      const second = await where.open();
      await second.audit.append([record(3)]);
      await second.close();
      await where.sql("DELETE FROM metamcp_audit WHERE first = 2");
      await where.sql("UPDATE metamcp_audit SET first = 2 WHERE first = -2");

      const third = await where.open();
      expect(await times(third)).toEqual([2, 1]);
      expect(await third.audit.verify()).toMatchObject({ ok: false, seq: 2 });
    });

    test("detects that log and end mark were replaced by an older copy under a running gateway", async () => {
      const where = await database();
      const first = await where.open();
      await first.audit.append([record(1)]);
      const [mark] = await where.sql("SELECT value FROM metamcp_meta WHERE name = 'audit-end'");
      await appendEach(first, [record(2), record(3)]);
      await where.sql("DELETE FROM metamcp_audit WHERE first > 1");
      await where.sql(
        `UPDATE metamcp_meta SET value = '${String(mark?.["value"])}' WHERE name = 'audit-end'`,
      );
      expect(await first.audit.verify()).toMatchObject({ ok: false, seq: 2 });
      await first.audit.append([record(4)]);
      await first.close();

      const second = await where.open();
      expect(await second.audit.verify()).toMatchObject({ ok: false, seq: 2 });
    });

    test("marks the end of a log from before end marks when it is opened", async () => {
      const where = await database();
      const first = await where.open();
      await appendEach(first, [record(1), record(2)]);
      await first.close();
      await withoutEndMark(where);

      const second = await where.open();
      expect(await second.audit.verify()).toEqual({ ok: true, count: 2 });
      await second.close();
      await where.sql("DELETE FROM metamcp_audit WHERE first = 2");
      const third = await where.open();
      expect(await third.audit.verify()).toMatchObject({ ok: false, seq: 2 });
    });

    test.each([
      ["ends before it begins", 3, 1],
      ["begins where the next one would and ends far before", 3, -5],
      ["has the number of one to come", 4, 0],
    ])("appends and reports a fault if a planted batch %s", async (_, planted, seq) => {
      const where = await database();
      const store = await where.open();
      await appendEach(store, [record(1), record(2)]);
      await where.sql(
        `INSERT INTO metamcp_audit (first, seq, since, until, hash, seal, lines)
         SELECT ${planted}, ${seq}, since, until, hash, seal, lines FROM metamcp_audit WHERE first = 1`,
      );
      await store.close();
      const other = await where.open();
      await other.audit.append([record(3), record(4)]);
      await other.audit.append([record(5)]);
      expect(await other.audit.verify()).toMatchObject({ ok: false, seq: 3 });
    });

    test("continues after batches of a running gateway from before end marks", async () => {
      const where = await database();
      const first = await where.open();
      await appendEach(first, [record(1), record(2)]);
      const [older] = await where.sql("SELECT value FROM metamcp_meta WHERE name = 'audit-end'");
      await appendEach(first, [record(3)]);
      await first.close();
      await where.sql(
        `UPDATE metamcp_meta SET value = '${String(older?.["value"])}' WHERE name = 'audit-end'`,
      );

      const second = await where.open();
      expect(await second.audit.verify()).toEqual({ ok: true, count: 3 });
      await second.audit.append([record(4)]);
      expect(await second.audit.verify()).toEqual({ ok: true, count: 4 });
    });
  });
}
