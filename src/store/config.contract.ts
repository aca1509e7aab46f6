/** Contract for the config of every store. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StoreError } from "./error.ts";
import type { NewObject, Store, StoreChange, StoreSnapshot } from "./store.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

const WHO = { kind: "user", id: "u1", name: "Ada" };

function object(uuid: string, name = uuid, more: Partial<NewObject> = {}): NewObject {
  return { kind: "server", uuid, name, nameKey: name.toLowerCase(), spec: {}, managedBy: "api", ...more };
}

async function commit(store: Store, put: readonly NewObject[], remove: readonly string[] = []) {
  const { revision: base } = await store.load();
  return await store.commit({ base, put, remove, who: WHO, summary: "a change" });
}

const code = (expected: string) => expect.objectContaining({ name: "StoreError", code: expected });

export function configContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`config in ${name}`, () => {
    test("is empty at revision 0 at first", async () => {
      const store = await (await database()).open();

      expect(await store.load()).toEqual({ revision: 0, objects: [] });
      expect(await store.revisions()).toEqual([]);
      expect(await store.revision(1)).toBeUndefined();
      expect(store.state).toEqual({ up: true });
    });

    test("keeps any committed JSON, also after the store is opened again", async () => {
      const where = await database();
      const spec = { text: "\0 \uD800 \u{1F600} ' ? $1", deep: [[[{ a: null }]]], n: -1.5e-7, "": true };
      const first = await where.open({ now: () => 1_000 });
      await commit(first, [object("a", "Ä'b", { spec, managedBy: "file:x", takenFrom: "file:y" })]);
      const seen = await first.load();
      await first.close();

      expect(seen.objects).toEqual([
        {
          ...object("a", "Ä'b", { spec, managedBy: "file:x", takenFrom: "file:y" }),
          revision: 1,
          createdAt: "1970-01-01T00:00:01.000Z",
          updatedAt: "1970-01-01T00:00:01.000Z",
        },
      ]);
      expect(await (await where.open()).load()).toEqual(seen);
    });

    test("stores the time that a change names, not that of the write", async () => {
      const store = await (await database()).open({ now: () => 9_000 });
      const at = "2026-01-02T03:04:05.678Z";
      const revision = await store.commit({
        base: 0,
        put: [object("a")],
        remove: [],
        who: { kind: "system", id: "test", name: "" },
        summary: "",
        at,
      });
      expect(revision.at).toBe(at);
      expect((await store.load()).objects).toMatchObject([{ createdAt: at, updatedAt: at }]);
      expect((await store.revisions())[0]?.at).toBe(at);
    });

    test("changes only the objects of a commit, and keeps their creation and change times", async () => {
      let time = 1_000;
      const store = await (await database()).open({ now: () => time });
      await commit(store, [object("a"), object("b")]);
      time = 2_000;
      await commit(store, [object("a", "a", { spec: { v: 2 } })]);
      time = 3_000;
      await commit(store, [object("c")], ["b"]);

      const made = (await store.load()).objects.map(({ uuid, revision, createdAt, updatedAt }) => [
        uuid,
        revision,
        Date.parse(createdAt),
        Date.parse(updatedAt),
      ]);
      expect(made).toEqual([
        ["a", 2, 1_000, 2_000],
        ["c", 3, 3_000, 3_000],
      ]);
    });

    test("keeps the creation time of an object that is restored", async () => {
      let time = 1_000;
      const store = await (await database()).open({ now: () => time });
      await commit(store, [object("a")]);
      await commit(store, [], ["a"]);
      time = 9_000;
      await commit(store, [object("a")]);

      const [back] = (await store.load()).objects;
      expect(back).toMatchObject({ createdAt: "1970-01-01T00:00:01.000Z", revision: 3 });
    });

    test("rejects a commit whose base is not the newest revision", async () => {
      const store = await (await database()).open();
      await commit(store, [object("a")]);
      const before = await store.load();

      const late = store.commit({ base: 0, put: [object("b")], remove: [], who: WHO, summary: "" });
      await expect(late).rejects.toEqual(code("conflict"));
      const early = store.commit({ base: 2, put: [object("b")], remove: [], who: WHO, summary: "" });
      await expect(early).rejects.toEqual(code("conflict"));
      expect(await store.load()).toEqual(before);
    });

    test("accepts one of many concurrent commits", async () => {
      const where = await database();
      const store = await where.open();
      const attempts = Array.from({ length: 12 }, (_, i) =>
        store.commit({ base: 0, put: [object(`o${i}`)], remove: [], who: WHO, summary: "" }),
      );
      const results = await Promise.allSettled(attempts);

      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results)
        if (result.status === "rejected") expect(result.reason).toEqual(code("conflict"));
      expect(await store.load()).toMatchObject({ revision: 1, objects: [{ revision: 1 }] });
    });

    test("rejects a name key that another object of the kind has", async () => {
      const store = await (await database()).open();
      await commit(store, [object("a", "Name"), object("n", "name", { kind: "namespace" })]);
      const before = await store.load();

      await expect(commit(store, [object("b", "NAME")])).rejects.toEqual(code("taken"));
      await expect(commit(store, [object("c", "x"), object("d", "X")])).rejects.toEqual(code("taken"));
      expect(await store.load()).toEqual(before);

      await commit(store, [object("b", "name")], ["a"]);
      expect((await store.load()).objects.map(({ uuid }) => uuid).sort()).toEqual(["b", "n"]);
    });

    test("allows two objects to swap their names", async () => {
      const store = await (await database()).open();
      await commit(store, [object("a", "one"), object("b", "two")]);
      await commit(store, [object("a", "two"), object("b", "one")]);

      const names = (await store.load()).objects.map(({ uuid, name }) => [uuid, name]);
      expect(names).toEqual([
        ["a", "two"],
        ["b", "one"],
      ]);
    });

    test.each<[string, readonly NewObject[], readonly string[]]>([
      ["the same object twice", [object("b"), object("b", "other")], []],
      ["one object put and removed", [object("a")], ["a"]],
      ["the removal of an unknown object", [], ["nobody"]],
      ["an object that changes its kind", [object("a", "a", { kind: "endpoint" })], []],
      ["a name that Postgres cannot store", [object("b", "a\0b")], []],
      ["a name with an unpaired surrogate", [object("b", "a\uD800b")], []],
      ["a spec that is not JSON", [object("b", "b", { spec: undefined })], []],
    ])("rejects %s, and changes nothing", async (_, put, remove) => {
      const store = await (await database()).open();
      await commit(store, [object("a")]);
      const before = await store.load();

      await expect(commit(store, put, remove)).rejects.toEqual(code("invalid"));
      expect(await store.load()).toEqual(before);
      expect(await store.revisions()).toHaveLength(1);
    });

    test("lists revisions newest first, in pages", async () => {
      const store = await (await database()).open({ now: () => 5_000 });
      for (let n = 0; n < 5; n++)
        await store.commit({ base: n, put: [], remove: [], who: WHO, summary: `made ${n + 1}\0` });

      const page = await store.revisions({ limit: 2 });
      expect(page).toEqual([
        { n: 5, at: "1970-01-01T00:00:05.000Z", who: WHO, summary: "made 5\0" },
        { n: 4, at: "1970-01-01T00:00:05.000Z", who: WHO, summary: "made 4\0" },
      ]);
      expect((await store.revisions({ before: 4, limit: 10 })).map(({ n }) => n)).toEqual([3, 2, 1]);
    });

    test("accepts more objects in one commit than fit into one statement", async () => {
      const store = await (await database()).open();
      const many = Array.from({ length: 1_201 }, (_, i) => object(`o${i}`));
      await commit(store, many);
      expect((await store.load()).objects).toHaveLength(1_201);

      await commit(
        store,
        [],
        many.map(({ uuid }) => uuid),
      );
      expect(await store.load()).toEqual({ revision: 2, objects: [] });
    });

    test("any sequence of commits gives the same objects as a replay, and every revision stays readable", async () => {
      const store = await (await database()).open();
      const uuids = ["a", "b", "c", "d"];
      const step = fc.record({
        put: fc.uniqueArray(fc.tuple(fc.constantFrom(...uuids), fc.integer({ min: 0, max: 3 })), {
          selector: ([uuid]) => uuid,
        }),
        remove: fc.uniqueArray(fc.constantFrom(...uuids)),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
          const seen: StoreSnapshot[] = [await store.load()];
          const replayed = new Map(seen[0]?.objects.map(({ uuid, spec }) => [uuid, spec]));
          for (const { put, remove } of steps) {
            const gone = remove.filter(
              (uuid) => replayed.has(uuid) && put.every(([other]) => other !== uuid),
            );
            await commit(
              store,
              put.map(([uuid, v]) => object(uuid, uuid, { spec: { v } })),
              gone,
            );
            for (const uuid of gone) replayed.delete(uuid);
            for (const [uuid, v] of put) replayed.set(uuid, { v });
            const now = await store.load();
            expect(new Map(now.objects.map(({ uuid, spec }) => [uuid, spec]))).toEqual(replayed);
            seen.push(now);
          }
          for (const { revision, objects } of seen.slice(1))
            expect((await store.revision(revision))?.objects).toEqual(objects);
        }),
        { numRuns: 15 },
      );
    });

    test("notifies a listener of each change once, until it unsubscribes", async () => {
      const store = await (await database()).open();
      const changes: StoreChange[] = [];
      const end = store.onChange((change) => changes.push(change));
      store.onChange(() => {
        throw new Error("of a listener");
      });
      await commit(store, [object("a")]);
      await store.records.put({ kind: "key", id: "1", value: 1 });
      await expect(store.commit({ base: 0, put: [], remove: [], who: WHO, summary: "" })).rejects.toThrow();
      expect(changes).toEqual([
        { of: "config", revision: 1 },
        { of: "records", kind: "key" },
      ]);

      end();
      await commit(store, [object("b")]);
      expect(changes).toHaveLength(2);
    });

    test("loads the current objects with one statement, and a past revision with one", async () => {
      const statements: string[] = [];
      const store = await (await database()).open({ onStatement: (sql) => statements.push(sql) });
      await commit(store, [object("a"), object("b")]);
      const ours = () => statements.filter((sql) => sql.includes("metamcp_objects")).length;

      const before = ours();
      await store.load();
      expect(ours() - before).toBe(1);
      await store.revision(1);
      expect(ours() - before).toBe(2);
    });

    test("answers requests that were waiting when it was closed", async () => {
      const store = await (await database()).open();
      // More than there are connections.
      const waiting = Array.from({ length: 10 }, () => store.load());
      await store.close();
      for (const answer of await Promise.all(waiting)) expect(answer.revision).toBe(0);
    });

    test("rejects requests after it was closed", async () => {
      const store = await (await database()).open();
      await store.close();
      await store.close();

      await expect(store.load()).rejects.toEqual(code("unavailable"));
      await expect(commit(store, [])).rejects.toSatisfy((error) => StoreError.is(error, "unavailable"));
    });
  });
}
