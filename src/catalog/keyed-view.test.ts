/** Lists belong to a list key: what clients with different capabilities see and find. */
import { expect, test } from "vitest";
import { listBy, openCatalog, TEST_ORIGIN } from "../../test/support/catalog.ts";
import { temp } from "../../test/support/temp.ts";
import { ManualClock } from "../kernel/clock.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import { silentLog } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { ToolCache } from "./cache.ts";
import { Catalog } from "./catalog.ts";
import { createSearch } from "./search/search.ts";

const able = { capabilities: toRaw({ sampling: {}, roots: { listChanged: true } }) };
const alsoAble = { capabilities: toRaw({ roots: { listChanged: true }, sampling: {} }) };
const asking = { capabilities: toRaw({ elicitation: {} }) };
const ABOUT = { title: "T" };

type Client = { readonly capabilities: Raw };
const CONFIG = new Map([["s", { identity: "id", permits: () => true }]]);

function lister(catalog: Catalog) {
  return (client: Client, ...names: string[]): Promise<void> =>
    catalog.refresh(
      { server: "s", key: listKeyOf(client) },
      async () => toRaw({ tools: names.map((name) => ({ name, description: `It can ${name}.` })) }),
      ABOUT,
    );
}

function setUp(home = temp().home) {
  const { catalog, cache, clock } = openCatalog(home);
  catalog.configure(CONFIG);
  const namesFor = (client: Client): string[] | undefined =>
    catalog
      .view(client)
      .snapshot.listings.get("s")
      ?.tools.map(({ name }) => name);
  return { home, catalog, cache, clock, list: lister(catalog), namesFor };
}

test("clients with equal capabilities in another order have the same list key, others have different keys", () => {
  expect(listKeyOf(able)).toBe(listKeyOf(alsoAble));
  expect(new Set([able, asking, TEST_ORIGIN].map((client) => listKeyOf(client))).size).toBe(3);
  const long = (name: string) => ({ capabilities: toRaw({ experimental: { [name.repeat(5_000)]: {} } }) });
  expect(listKeyOf(long("a"))).not.toBe(listKeyOf(long("b")));
  expect(listKeyOf(long("a")).length).toBeLessThan(200);
});

test("a client sees the list of its own key, and before that the list of another key as not live", async () => {
  const { catalog, list, namesFor } = setUp();
  await list(TEST_ORIGIN, "plain");
  expect(catalog.view(TEST_ORIGIN).isLive("s")).toBe(true);
  expect(namesFor(able)).toEqual(["plain"]);
  expect(catalog.view(able).knows("s", "tools")).toBe(true);
  expect(catalog.view(able).isLive("s")).toBe(false);
  expect(catalog.view(able).snapshot.listings.get("s")?.source).toBe("cache");

  await list(able, "plain", "samples");
  expect([namesFor(TEST_ORIGIN), namesFor(able), namesFor(alsoAble)]).toEqual([
    ["plain"],
    ["plain", "samples"],
    ["plain", "samples"],
  ]);
  expect(catalog.view(able).isLive("s")).toBe(true);
  expect(catalog.view(able).snapshot.tool("s", "samples")?.name).toBe("samples");
  expect(catalog.view(TEST_ORIGIN).snapshot.tool("s", "samples")).toBeUndefined();
  // Clients without a list of their key still see the first one.
  expect(namesFor(asking)).toEqual(["plain"]);
});

test("views with equal content share one snapshot, and a list with the visible content notifies no listener", async () => {
  const { catalog, list } = setUp();
  let notified = 0;
  catalog.onChange(() => {
    notified++;
  });
  await list(TEST_ORIGIN, "a", "b");
  const { version } = catalog.view(able).snapshot;
  expect(notified).toBe(1);
  await list(able, "b", "a");
  expect(notified).toBe(1);
  expect(catalog.view(able).snapshot).toBe(catalog.view(TEST_ORIGIN).snapshot);
  expect(catalog.view(able).snapshot.version).toBe(version);
  await list(able, "a");
  expect(notified).toBe(2);
  expect(catalog.view(able).snapshot.version).not.toBe(version);
  expect(catalog.view(TEST_ORIGIN).snapshot.version).toBe(catalog.snapshot.version);
});

test("a search finds only tools of the client's key and fills its limit", async () => {
  const log = silentLog;
  const cache = new ToolCache({ home: temp().home, log });
  const catalog = new Catalog({ cache, search: createSearch(), clock: new ManualClock(), log });
  catalog.configure(CONFIG);
  const list = lister(catalog);
  await list(TEST_ORIGIN, "read_mail", "send_mail");
  await list(able, "read_mail", "sort_mail", "move_mail");
  const found = async (client: Client): Promise<string[]> =>
    (await catalog.view(client).search.search("mail", { limit: 2 })).map(({ name }) => name).toSorted();
  expect(await found(TEST_ORIGIN)).toEqual(["read_mail", "send_mail"]);
  expect(await found(able)).not.toContain("send_mail");
  expect(await found(able)).toHaveLength(2);
  const none = await catalog.view(able).search.search("mail", { limit: 9, scope: () => false });
  expect(none).toEqual([]);
  await cache.flush();
});

test("the next process reads the list of each key from the cache, and a list without a key until a key has listed", async () => {
  const first = setUp();
  await first.list(TEST_ORIGIN, "plain");
  await first.list(able, "plain", "samples");
  await first.cache.flush();
  const second = setUp(first.home);
  await second.catalog.loadCached();
  expect(second.namesFor(TEST_ORIGIN)).toEqual(["plain"]);
  expect(second.namesFor(able)).toEqual(["plain", "samples"]);
  expect(second.catalog.view(able).isLive("s")).toBe(false);

  // A cache entry without a key.
  const old = setUp();
  await old.list(TEST_ORIGIN, "old");
  const [kept] = await old.cache.read("s", "id");
  old.cache.write("s", { identity: "id", key: undefined }, { tools: kept?.tools ?? [], about: ABOUT });
  await old.cache.flush();
  const third = setUp(old.home);
  await third.catalog.loadCached();
  expect(third.namesFor(asking)).toEqual(["old"]);
  await third.list(able, "new");
  await third.cache.flush();
  expect((await third.cache.read("s", "id")).every(({ key }) => key !== undefined)).toBe(true);
});

test("clients with many different capabilities cause only a few stored lists and views", async () => {
  const { catalog, cache, list } = setUp();
  await list(TEST_ORIGIN, "plain");
  for (let n = 0; n < 400; n++) {
    const odd = { capabilities: toRaw({ experimental: { [`x${n}`]: {} } }) };
    expect(catalog.view(odd).snapshot).toBe(catalog.view(asking).snapshot);
    if (n < 40) await list(odd, `t${n}`);
  }
  await cache.flush();
  expect((await cache.read("s", "id")).length).toBeLessThanOrEqual(4);
  await catalog.refresh(listBy("s"), async () => toRaw({ tools: [{ name: "again" }] }), ABOUT);
  expect(catalog.view(TEST_ORIGIN).snapshot.tool("s", "again")?.name).toBe("again");
});
