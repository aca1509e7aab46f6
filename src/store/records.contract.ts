/** Contract for the records of every store. */
import { describe, expect, test } from "vitest";
import { withLease } from "./lease.ts";
import type { StoreChange } from "./store.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

const code = (expected: string) => expect.objectContaining({ name: "StoreError", code: expected });

export function recordsContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`records in ${name}`, () => {
    test("are put, found, listed by id and deleted", async () => {
      const where = await database();
      const first = await where.open();
      const put = await first.records.put({ kind: "key", id: "b", value: { s: "\0" }, key: "k1" });
      await first.records.put({ kind: "key", id: "B", value: [1] });
      await first.records.put({ kind: "key", id: "a", value: null });
      await first.records.put({ kind: "user", id: "b", value: 1, key: "k1" });
      await first.close();

      const { records } = await where.open();
      expect(put).toEqual({ kind: "key", id: "b", value: { s: "\0" }, key: "k1", version: 1 });
      expect(await records.get("key", "b")).toEqual(put);
      expect(await records.find("key", "k1")).toEqual(put);
      expect((await records.list("key")).map(({ id }) => id)).toEqual(["B", "a", "b"]);
      expect((await records.list("key", { after: "B", limit: 1 })).map(({ id }) => id)).toEqual(["a"]);

      expect(await records.delete("key", "b")).toBe(true);
      expect(await records.delete("key", "b")).toBe(false);
      expect(await records.get("key", "b")).toBeUndefined();
      expect(await records.find("user", "k1")).toMatchObject({ id: "b" });
    });

    test("are listed since a version", async () => {
      const { records } = await (await database()).open();
      for (const id of ["a", "b", "c"]) await records.put({ kind: "key", id, value: id });
      const { version } = await records.put({ kind: "key", id: "a", value: "again" });
      await records.put({ kind: "key", id: "d", value: "d" });
      const ids = async (since: number, limit = 9) =>
        (await records.list("key", { since, limit })).map(({ id }) => id);
      expect(await ids(0)).toEqual(["a", "b", "c", "d"]);
      expect(await ids(version - 1)).toEqual(["a", "d"]);
      expect(await ids(version - 1, 1)).toEqual(["a"]);
      expect((await records.list("key", { since: version, after: "a" })).map(({ id }) => id)).toEqual(["d"]);
      expect(await ids(version + 1)).toEqual([]);
    });

    test("withLease runs one holder at a time", async () => {
      const { records } = await (await database()).open();
      const options = { holdMs: 60_000, waitMs: 60_000 };
      const steps: string[] = [];
      const work = (name: string) => async (): Promise<void> => {
        steps.push(`begin ${name}`);
        await records.get("key", "anything");
        steps.push(`end ${name}`);
      };
      await Promise.all(["a", "b", "c"].map((name) => withLease(records, "one", work(name), options)));
      expect(steps.filter((_, at) => at % 2 === 0).map((line) => line.replace("begin", "end"))).toEqual(
        steps.filter((_, at) => at % 2 === 1),
      );

      // Leases with other ids do not wait for each other, and a failed run releases its lease.
      const inner = withLease(
        records,
        "one",
        () => withLease(records, "two", async () => 2, options),
        options,
      );
      expect(await inner).toBe(2);
      await expect(withLease(records, "one", () => Promise.reject(new Error("no")), options)).rejects.toThrow(
        "no",
      );
      expect(await withLease(records, "one", async () => 1, { holdMs: 1, waitMs: 0 })).toBe(1);
    });

    test("withLease ignores an expired lease, and rejects if a valid one is held too long", async () => {
      const { records } = await (await database()).open();
      await records.put({ kind: "lease", id: "dead", value: {}, expiresAt: Date.now() - 1 });
      expect(await withLease(records, "dead", async () => 1, { holdMs: 60_000, waitMs: 0 })).toBe(1);
      await records.put({ kind: "lease", id: "busy", value: {}, expiresAt: Date.now() + 60_000 });
      await expect(withLease(records, "busy", async () => 1, { holdMs: 1, waitMs: 0 })).rejects.toEqual(
        code("conflict"),
      );
    });

    test("are replaced completely by a put", async () => {
      const { records } = await (await database()).open({ now: () => 0 });
      await records.put({ kind: "key", id: "a", value: 1, key: "k", expiresAt: 5 });
      const second = await records.put({ kind: "key", id: "a", value: 2 });

      expect(await records.get("key", "a")).toEqual(second);
      expect(second).toEqual({ kind: "key", id: "a", value: 2, version: 2 });
      expect(await records.find("key", "k")).toBeUndefined();
    });

    test("are written only if ifVersion equals the current version", async () => {
      const { records } = await (await database()).open();
      const a = { kind: "key", id: "a" };
      const first = await records.put({ ...a, value: 1, ifVersion: 0 });
      await expect(records.put({ ...a, value: 2, ifVersion: 0 })).rejects.toEqual(code("conflict"));
      const second = await records.put({ ...a, value: 2, ifVersion: first.version });
      await expect(records.put({ ...a, value: 3, ifVersion: first.version })).rejects.toEqual(
        code("conflict"),
      );
      await expect(records.write([{ delete: { ...a, ifVersion: first.version } }])).rejects.toEqual(
        code("conflict"),
      );
      expect(await records.get("key", "a")).toMatchObject({ value: 2 });

      await records.write([{ delete: { ...a, ifVersion: second.version } }]);
      const again = await records.put({ ...a, value: 1, ifVersion: 0 });
      expect(again.version).toBeGreaterThan(second.version);
    });

    test("accept one of many concurrent writes and deletes", async () => {
      const { records } = await (await database()).open();
      const { version } = await records.put({ kind: "code", id: "a", value: 1 });
      const writes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, i) =>
          records.put({ kind: "code", id: "a", value: i, ifVersion: version }),
        ),
      );
      expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);

      const deletes = await Promise.all(Array.from({ length: 8 }, () => records.delete("code", "a")));
      expect(deletes.filter(Boolean)).toHaveLength(1);
    });

    test("reject a key that another record of the kind has", async () => {
      const { records } = await (await database()).open();
      await records.put({ kind: "key", id: "a", value: 1, key: "k" });
      await expect(records.put({ kind: "key", id: "b", value: 1, key: "k" })).rejects.toEqual(code("taken"));
      await records.put({ kind: "key", id: "a", value: 2, key: "k" });

      expect(await records.list("key")).toMatchObject([{ id: "a", value: 2 }]);
    });

    test("are written together or not at all", async () => {
      const { records } = await (await database()).open();
      await records.put({ kind: "token", id: "old", value: 1 });
      const bad = records.write([
        { delete: { kind: "token", id: "old" } },
        { put: { kind: "user", id: "x", value: 1 } },
        { put: { kind: "token", id: "new", value: 1, ifVersion: 7 } },
      ]);
      await expect(bad).rejects.toEqual(code("conflict"));
      expect(await records.list("token")).toMatchObject([{ id: "old" }]);
      expect(await records.list("user")).toEqual([]);

      await records.write([
        { delete: { kind: "token", id: "old" } },
        { put: { kind: "token", id: "new", value: 1, ifVersion: 0 } },
      ]);
      expect(await records.list("token")).toMatchObject([{ id: "new" }]);
    });

    test("writers of several kinds do not deadlock, whatever the order of kinds", async () => {
      const { records } = await (await database()).open();
      const put = (kind: string, i: number) => ({ put: { kind, id: `${i}`, value: i } });
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          records.write(i % 2 ? [put("a", i), put("b", i)] : [put("b", i), put("a", i)]),
        ),
      );
      expect(await records.list("a")).toHaveLength(10);
    });

    test("disappear when they expire, and release their key", async () => {
      let time = 1_000;
      const where = await database();
      const { records } = await where.open({ now: () => time });
      await records.put({ kind: "code", id: "a", value: 1, key: "k", expiresAt: 2_000 });
      expect(await records.get("code", "a")).toMatchObject({ expiresAt: 2_000 });

      time = 2_000;
      expect(await records.get("code", "a")).toBeUndefined();
      expect(await records.find("code", "k")).toBeUndefined();
      expect(await records.list("code")).toEqual([]);
      await records.put({ kind: "code", id: "b", value: 2, key: "k", ifVersion: 0 });
      await records.put({ kind: "code", id: "a", value: 3, ifVersion: 0 });
      expect(await where.sql("SELECT id FROM metamcp_records ORDER BY id")).toMatchObject([
        { id: "a" },
        { id: "b" },
      ]);
    });

    test("notify listeners once per kind and write", async () => {
      const store = await (await database()).open();
      const changes: StoreChange[] = [];
      store.onChange((change) => changes.push(change));
      await store.records.write([
        { put: { kind: "user", id: "a", value: 1 } },
        { put: { kind: "key", id: "a", value: 1 } },
        { put: { kind: "key", id: "b", value: 1 } },
      ]);
      await store.records.delete("key", "a");

      expect(changes.map((change) => ("kind" in change ? change.kind : change.of))).toEqual([
        "key",
        "user",
        "key",
      ]);
    });

    test("reject ids and keys that Postgres cannot store", async () => {
      const { records } = await (await database()).open();
      await expect(records.put({ kind: "key", id: "\0", value: 1 })).rejects.toEqual(code("invalid"));
      await expect(records.put({ kind: "key", id: "a", value: 1, key: "\uD800" })).rejects.toEqual(
        code("invalid"),
      );
      await expect(records.put({ kind: "key", id: "a", value: undefined })).rejects.toEqual(code("invalid"));
    });
  });
}
