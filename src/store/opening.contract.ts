/** Contract for opening every store: keys and migrations. */
import { describe, expect, test } from "vitest";
import { ADDITIONS, MIGRATIONS, type Migration } from "./migrations.ts";
import type { NewObject, Store } from "./store.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

const WHO = { kind: "user", id: "u1", name: "Ada" };
const OTHER = "another-secret-for-tests-9876543210-xyz";
const NEXT: Migration = () => ["CREATE TABLE metamcp_more (a TEXT)", "INSERT INTO metamcp_more VALUES ('x')"];

const code = (expected: string) => expect.objectContaining({ name: "StoreError", code: expected });
const keys = (current: string, old?: string) => ({
  env: { METAMCP_SECRET_KEY: current, ...(old !== undefined && { METAMCP_SECRET_KEY_OLD: old }) },
});

async function put(store: Store, spec: unknown): Promise<void> {
  const { revision: base } = await store.load();
  const object: NewObject = { kind: "server", uuid: "a", name: "a", nameKey: "a", spec, managedBy: "api" };
  await store.commit({ base, put: [object], remove: [], who: WHO, summary: "" });
}

const TABLES = ["meta", "revisions", "objects", "records", "record_kinds", "audit", "migrations"];

/** The content of all tables. */
async function content(database: StoreDatabase): Promise<unknown> {
  const tables: unknown[] = [];
  for (const table of TABLES) tables.push(await database.sql(`SELECT * FROM metamcp_${table} ORDER BY 1, 2`));
  return tables;
}

export function openingContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`opening ${name}`, () => {
    test("a sealed text can be opened with the same key, in this process and the next", async () => {
      const where = await database();
      const first = await where.open();
      const sealed = first.sealer.seal("pass wörd");
      const derived = first.sealer.derive("cookies");
      await first.close();

      const { sealer } = await where.open();
      expect(sealed).not.toContain("pass");
      expect(sealed).toContain(sealer.keyId);
      expect(first.sealer.seal("pass wörd")).not.toBe(sealed);
      expect(sealer.open(sealed)).toBe("pass wörd");
      expect(sealer.derive("cookies")).toEqual(derived);
      expect(derived).toHaveLength(32);
      expect(sealer.derive("cursors")).not.toEqual(derived);
    });

    test("is refused with another key, and changes nothing", async () => {
      const where = await database();
      const first = await where.open();
      await put(first, { env: { TOKEN: first.sealer.seal("t") } });
      await first.close();
      const before = await content(where);

      await expect(where.open(keys(OTHER))).rejects.toEqual(code("key_wrong"));
      await expect(where.open(keys(OTHER, `${OTHER}-old`))).rejects.toEqual(code("key_wrong"));
      await expect(where.open({ ...keys(OTHER), migrations: [...MIGRATIONS, NEXT] })).rejects.toEqual(
        code("key_wrong"),
      );
      expect(await content(where)).toEqual(before);
      await where.open();
    });

    test.each([
      ["short", "short-key-0123456789"],
      ["of few characters", "abcabcabcabcabcabcabcabcabcabcabcabcabcabc"],
      ["with spaces", "these words are long enough but have spaces 123"],
      ["too long", "0123456789abcdef".repeat(100)],
    ])("is refused with a key that is %s, before anything is created", async (_, key) => {
      const where = await database();
      await expect(where.open(keys(key))).rejects.toEqual(code("key_weak"));
      await expect(where.open(keys(where.secret, key))).rejects.toEqual(code("key_weak"));
      await expect(where.sql("SELECT 1 FROM metamcp_meta")).rejects.toThrow();
    });

    test("reseals everything with a new key if the old one is given, including history and records", async () => {
      const where = await database();
      const first = await where.open();
      const { sealer } = first;
      const fake = `${sealer.seal("x").slice(0, -4)}AAAA`;
      await put(first, { env: { TOKEN: { sealed: sealer.seal("one") } }, list: [sealer.seal("two")], fake });
      await put(first, { plain: "sealed:1:looks like it" });
      await first.records.put({ kind: "grant", id: "g", value: { token: sealer.seal("three") } });
      const derived = sealer.derive("keys");
      await first.close();

      const second = await where.open(keys(OTHER, where.secret));
      const { version } = (await second.records.get("grant", "g")) ?? {};
      await second.close();
      const third = await where.open(keys(OTHER));
      const past = (await third.revision(1))?.objects[0]?.spec as {
        env: { TOKEN: { sealed: string } };
        list: [string];
        fake: string;
      };
      expect(third.sealer.open(past.env.TOKEN.sealed)).toBe("one");
      expect(third.sealer.open(past.list[0])).toBe("two");
      expect(past.fake).toBe(fake);
      expect((await third.load()).objects[0]?.spec).toEqual({ plain: "sealed:1:looks like it" });
      const grant = (await third.records.get("grant", "g")) as { value: { token: string }; version: number };
      expect(third.sealer.open(grant.value.token)).toBe("three");
      expect(grant.version).toBe(version);
      expect(third.sealer.derive("keys")).toEqual(derived);
      expect(third.sealer.keyId).not.toBe(sealer.keyId);
      await third.close();
      await expect(where.open()).rejects.toEqual(code("key_wrong"));
    });

    test("migrates to the newest version once, and keeps the data", async () => {
      const where = await database();
      const first = await where.open();
      await put(first, { a: 1 });
      const before = await first.load();
      await first.close();

      const migrations = [...MIGRATIONS, NEXT];
      for (let round = 0; round < 2; round++) {
        const store = await where.open({ migrations });
        expect(await store.load()).toEqual(before);
        await store.close();
      }
      expect(await where.sql("SELECT a FROM metamcp_more")).toMatchObject([{ a: "x" }]);
    });

    test("is refused for a store of a newer program, and changes nothing", async () => {
      const where = await database();
      await (await where.open({ migrations: [...MIGRATIONS, NEXT] })).close();
      const before = await content(where);

      await expect(where.open()).rejects.toEqual(code("newer"));
      expect(await content(where)).toEqual(before);
    });

    test("an older program runs on a store with additions of a newer one, and leaves them", async () => {
      const where = await database();
      const additions = [...ADDITIONS, NEXT];
      await (await where.open({ additions })).close();
      const older = await where.open();
      await put(older, { a: 1 });
      const before = await older.load();
      await older.close();

      const newer = await where.open({ additions });
      expect(await newer.load()).toEqual(before);
      // An addition that is made twice would have two rows.
      expect(await where.sql("SELECT a FROM metamcp_more")).toMatchObject([{ a: "x" }]);
    });

    test("is refused for tables of another program", async () => {
      const where = await database();
      await (await where.open()).close();
      await where.sql("UPDATE metamcp_migrations SET checksum = 'x'");

      await expect(where.open()).rejects.toEqual(code("foreign"));
      await expect(where.open()).rejects.toThrow(/"metamcp gateway export"/);
    });

    test("leaves the store unchanged if a migration fails", async () => {
      const where = await database();
      await (await where.open()).close();
      const before = await content(where);

      const bad: Migration = () => [
        "CREATE TABLE metamcp_more (a TEXT)",
        "INSERT INTO metamcp_none VALUES (1)",
      ];
      await expect(where.open({ migrations: [...MIGRATIONS, bad] })).rejects.toThrow();
      expect(await content(where)).toEqual(before);
      await expect(where.sql("SELECT 1 FROM metamcp_more")).rejects.toThrow();
    });
  });
}
