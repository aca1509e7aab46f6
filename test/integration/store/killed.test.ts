/** Processes that are killed while they write, and a second process on an embedded store. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObjectVersion, Store } from "../../../src/store/store.ts";
import { buildStoreProgram, type StoreProgram } from "../../support/store-process.ts";
import {
  noPostgres,
  postgresDatabase,
  sqliteDatabase,
  type TestDatabase,
} from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const ROUNDS = 6;

let program: StoreProgram;
beforeAll(async () => {
  program = await buildStoreProgram();
});
afterAll(() => program.remove());

const places: [string, () => Promise<TestDatabase>][] = [["an embedded store", async () => sqliteDatabase()]];
if (noPostgres === undefined) places.push(["a Postgres store", () => postgresDatabase()]);
else test.skip(`left out, because no Postgres answers: ${noPostgres}`, () => {});

function expectComplete(n: number, objects: readonly ObjectVersion[]): void {
  expect(objects.map(({ spec }) => (spec as { n: number }).n)).toEqual(Array(5 + (n % 2)).fill(n));
}

/** Statements that a process sent before it was killed may still be running at the database server. */
async function settled(store: Store) {
  return await until(async () => {
    const { revision, objects } = await store.load();
    const all = await store.revisions({ limit: 1_000_000 });
    return all.length === revision && { revision, objects, all };
  });
}

describe.each(places)("a writer of %s that is killed at any moment", (_, database) => {
  test("leaves complete revisions, every confirmed one, and readable secrets", async () => {
    const where = await database();
    for (let round = 1; round <= ROUNDS; round++) {
      const writer = program.start(where, "write");
      // Waits for some commits and then for a random time, so that the kill hits any point of the next
      // commit.
      await until(() => writer.lines.length > 2 * round, { what: "some commits" });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      await writer.kill();
      const confirmed = Number(writer.lines.at(-1));

      const store = await where.open();
      const { revision, objects, all } = await settled(store);
      expect(revision === confirmed || revision === confirmed + 1).toBe(true);
      expectComplete(revision, objects);
      expect(all.map(({ n }) => n)).toEqual(Array.from({ length: revision }, (_, i) => revision - i));
      for (const { n } of all.slice(0, 20)) {
        const past = (await store.revision(n))?.objects ?? [];
        expectComplete(n, past);
        for (const { spec } of past)
          expect(store.sealer.open((spec as { sealed: string }).sealed)).toBe(`secret ${n}`);
      }
      expect(await store.audit.verify()).toMatchObject({ ok: true });
      await store.close();
    }
  });
});

const fileOf = ({ url }: TestDatabase): string => url.slice("file:".length);

test("an embedded store whose last writes reached the disk partly has complete revisions", async () => {
  const where = sqliteDatabase();
  const writer = program.start(where, "write");
  await until(() => writer.lines.length > 12, { what: "some commits" });
  await writer.kill();
  const confirmed = Number(writer.lines.at(-1));
  const [main, log] = ["", "-wal"].map((end) => readFileSync(fileOf(where) + end)) as [Buffer, Buffer];

  const found = new Set<number>();
  for (let part = 0; part <= 10; part++) {
    // The log is cut at any byte, also within a page. The rest is empty or has the previous content of the
    // disk.
    const cut = Math.floor((log.length * part) / 10);
    for (const rest of [Buffer.alloc(0), Buffer.alloc(log.length - cut, 0xaa)]) {
      const copy = sqliteDatabase();
      writeFileSync(fileOf(copy), main);
      writeFileSync(`${fileOf(copy)}-wal`, Buffer.concat([log.subarray(0, cut), rest]));
      const store = await copy.open();
      const { revision, objects } = await store.load();
      found.add(revision);
      expect(revision).toBeLessThanOrEqual(confirmed + 1);
      if (revision > 0) expectComplete(revision, objects);
      for (const { spec } of objects)
        expect(store.sealer.open((spec as { sealed: string }).sealed)).toBe(`secret ${revision}`);
      expect(await store.audit.verify()).toMatchObject({ ok: true });
      await store.close();
    }
  }
  expect(found.size).toBeGreaterThan(3);
});

test("a second process on an embedded store is rejected and changes nothing", async () => {
  const where = sqliteDatabase();
  const holder = program.start(where, "hold");
  await holder.untilLine("open");

  await expect(where.open()).rejects.toMatchObject({ code: "in_use" });
  const second = program.start(where, "write");
  await until(() => second.lines.length > 0);
  expect(JSON.parse(second.lines[0] as string)).toMatchObject({
    code: "in_use",
    message: expect.stringContaining("is in use by another process"),
  });

  await holder.kill();
  const store = await where.open();
  expect(await store.load()).toEqual({ revision: 0, objects: [] });
});

test("a rejected second open within the process does not release the lock for another process", async () => {
  const where = sqliteDatabase();
  await where.open();
  await expect(where.open()).rejects.toMatchObject({ code: "in_use" });

  const other = program.start(where, "hold");
  await until(() => other.lines.length > 0);
  expect(JSON.parse(other.lines[0] as string)).toMatchObject({ code: "in_use" });
});
