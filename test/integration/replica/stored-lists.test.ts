/**
 * The stored lists of servers by themselves, on both databases: bounds, followers, and files of an earlier
 * version.
 */
import { describe, expect, test } from "vitest";
import { ToolCache } from "../../../src/catalog/cache.ts";
import type { CachedList } from "../../../src/catalog/cache-file.ts";
import { ITEM_LISTS, type Item } from "../../../src/catalog/item.ts";
import type { LearnedList } from "../../../src/catalog/list-storage.ts";
import { readTool } from "../../../src/catalog/read-tool.ts";
import type { Tool } from "../../../src/catalog/tool.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog as log } from "../../../src/kernel/log.ts";
import { asRaw } from "../../../src/kernel/raw.ts";
import { elements } from "../../../src/rpc/slice.ts";
import { StoredLists } from "../../../src/serving/shared/stored-lists.ts";
import type { Store } from "../../../src/store/store.ts";
import { temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

/** A flush on a busy machine may take longer than a stop would wait for it. */
const clock = new ManualClock();

/** The number would change if the definition were parsed and written again. */
const definition = (name: string) => `{"name":"${name}","inputSchema":{"type":"object","maximum":1.0}}`;

function listOf(...names: string[]): CachedList {
  const tools = names.map((name) => readTool("s", asRaw(Buffer.from(definition(name)))) as Tool);
  return { tools, about: {} };
}

const shown = (lists: readonly CachedList[]) =>
  lists.map(({ tools }) => tools.map((tool) => tool.definition.toString()));

async function opened(store: Store, home = temp().home): Promise<StoredLists> {
  return await StoredLists.open(store, { home, clock, log });
}

const databases = [
  ["SQLite", async () => sqliteDatabase(), undefined],
  ["Postgres", () => postgresDatabase(), noPostgres],
] as const;

describe.each(databases)("stored lists in %s", (_, database, missing) => {
  const when = test.skipIf(missing);

  when("are read by another process as they were written, and followed while both run", async () => {
    const where = await database();
    const store = await where.open();
    const one = await opened(store);
    one.write("s", { identity: "id", key: "k" }, listOf("a", "b"));
    await one.flush();
    const two = await opened(store);
    const heard: LearnedList[] = [];
    two.onLearned((learned) => heard.push(learned));
    expect(shown(await two.read("s", "id"))).toEqual([[definition("a"), definition("b")]]);
    expect(await two.read("s", "another identity")).toEqual([]);
    expect(await two.read("other", "id")).toEqual([]);

    one.write("s", { identity: "id", key: "k" }, listOf("c"));
    await until(() => heard.length === 1);
    expect(shown(heard.map(({ list }) => list))).toEqual([[definition("c")]]);
    expect(heard[0]).toMatchObject({ server: "s", identity: "id", list: { key: "k" } });
    // After the start lists are read from the store.
    expect(shown(await two.read("s", "id"))).toEqual([[definition("c")]]);
  });

  when("keep what two processes learned at once, each of another kind", async () => {
    const store = await (await database()).open();
    const processes = [await opened(store), await opened(store)] as const;
    const owner = { identity: "id", key: "k" };
    const prompts = [...elements(asRaw(Buffer.from('[{"name":"p"}]')))].map(
      (raw) => ITEM_LISTS.prompts.read("s", raw) as Item,
    );
    processes[0].write("s", owner, listOf("old"));
    await processes[0].flush();
    for (let n = 0; n < 5; n++) {
      processes[0].write("s", owner, listOf(`new${n}`), ["tools"]);
      processes[1].write("s", owner, { ...listOf("old"), prompts: n % 2 === 0 ? prompts : [] }, ["prompts"]);
      await Promise.all(processes.map((lists) => lists.flush()));
      const [list] = await (await opened(store)).read("s", "id");
      expect(shown(list ? [list] : [])).toEqual([[definition(`new${n}`)]]);
      expect(list?.prompts).toHaveLength(n % 2 === 0 ? 1 : 0);
    }
  });

  when("are at most 16 of a server, and none of one that is gone", async () => {
    const where = await database();
    const lists = await opened(await where.open());
    for (let n = 0; n < 20; n++) lists.write("s", { identity: "id", key: `k${n}` }, listOf(`t${n}`));
    lists.write("s2", { identity: "id", key: "k" }, listOf("x"));
    await lists.flush();
    const kept = await lists.read("s", "id");
    expect(kept.map(({ key }) => key)).toEqual(Array.from({ length: 16 }, (_, n) => `k${19 - n}`));
    lists.forget("s");
    await lists.flush();
    expect(await lists.read("s", "id")).toEqual([]);
    expect(await lists.read("s2", "id")).toHaveLength(1);
  });

  when("take over files of an earlier version", async () => {
    const where = await database();
    const { home } = temp();
    const files = new ToolCache({ home, log });
    files.write("s", { identity: "id", key: "k" }, listOf("a"));
    await files.flush();
    const store = await where.open();
    const one = await opened(store, home);
    expect(shown(await one.read("s", "id"))).toEqual([[definition("a")]]);
    await one.flush();
    expect(shown(await (await opened(store)).read("s", "id"))).toEqual([[definition("a")]]);
  });
});
