import { describe, expect, test } from "vitest";
import { listBy, openCatalog, TEST_ORIGIN } from "../../test/support/catalog.ts";
import { temp } from "../../test/support/temp.ts";
import { asRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Catalog } from "./catalog.ts";
import { CatalogLoader } from "./catalog-loader.ts";
import type { ItemKind } from "./item.ts";
import type { Ask } from "./list-all.ts";

const LISTS: Record<string, string> = {
  "tools/list": '{"tools":[{"name":"t"}]}',
  "prompts/list": '{"prompts":[{"name":"p","new":12345678901234567890},{"no":"name"}]}',
  "resources/list": '{"resources":[ {"uri":"x://1","name":"one"},{"uri":"x://1","name":"again"}]}',
  "resources/templates/list": '{"resourceTemplates":[{"uriTemplate":"x://{id}","name":"any"}]}',
};
const ask: Ask = async (method) => asRaw(Buffer.from(LISTS[method] ?? "{}"));
function open(home?: string) {
  const { clock, cache, catalog } = openCatalog(home);
  catalog.configure(new Map([["s", { identity: "id", permits: () => true }]]));
  let changes = 0;
  catalog.onChange(() => {
    changes++;
  });
  return { clock, cache, catalog, changes: () => changes };
}

const writtenOf = (catalog: Catalog, kind: ItemKind): string[] | undefined =>
  catalog.snapshot.listings.get("s")?.[kind]?.map(({ definition }) => definition.toString());

test("lists are published as written, in any order of arrival, and only changes notify listeners", async () => {
  const { catalog, changes } = open();
  await catalog.refreshItems(listBy("s"), "prompts", ask);
  expect(catalog.knows("s", "prompts")).toBe(false);
  await catalog.refresh(listBy("s"), ask, {});
  await catalog.refreshItems(listBy("s"), "resources", ask);
  await catalog.refreshItems(listBy("s"), "templates", ask);
  expect(writtenOf(catalog, "prompts")).toEqual(['{"name":"p","new":12345678901234567890}']);
  expect(writtenOf(catalog, "resources")).toEqual(['{"uri":"x://1","name":"one"}']);
  expect(writtenOf(catalog, "templates")).toEqual(['{"uriTemplate":"x://{id}","name":"any"}']);
  expect(changes()).toBe(3);
  const { snapshot } = catalog;
  await catalog.refreshItems(listBy("s"), "prompts", ask);
  expect(catalog.snapshot).toBe(snapshot);
});

test("a later process reads prompts and resources from the cache, even if one in between listed only tools", async () => {
  const { home } = temp();
  const first = open(home);
  await first.catalog.refresh(listBy("s"), ask, {});
  await first.catalog.refreshItems(listBy("s"), "prompts", ask);
  await first.catalog.refreshItems(listBy("s"), "resources", undefined);
  await first.cache.flush();

  const second = open(home);
  await second.catalog.refresh(listBy("s"), async () => toRaw({ tools: [{ name: "other" }] }), {});
  await second.cache.flush();

  const third = open(home);
  await third.catalog.loadCached();
  expect(third.catalog.snapshot.tool("s", "other")).toBeDefined();
  expect(writtenOf(third.catalog, "prompts")).toEqual(['{"name":"p","new":12345678901234567890}']);
  expect(third.catalog.knows("s", "resources")).toBe(true);
  expect(third.catalog.knows("s", "templates")).toBe(false);
});

describe("the prompts and resources of a child", () => {
  test("count as empty after an error or an invalid answer", async () => {
    const { catalog } = open();
    await catalog.refresh(listBy("s"), ask, {});
    await catalog.refreshItems(listBy("s"), "prompts", () => Promise.reject(RpcError.of(-32000, "no")));
    await catalog.refreshItems(listBy("s"), "resources", async () => toRaw({ resources: 7 }));
    expect([writtenOf(catalog, "prompts"), writtenOf(catalog, "resources")]).toEqual([[], []]);
  });

  test("stay unknown if the connection is lost, and stay as they were if a later request fails", async () => {
    const { catalog } = open();
    await catalog.refresh(listBy("s"), ask, {});
    await catalog.refreshItems(listBy("s"), "prompts", () => Promise.reject(new Error("it died")));
    expect(catalog.knows("s", "prompts")).toBe(false);
    await catalog.refreshItems(listBy("s"), "prompts", ask);
    await catalog.refreshItems(listBy("s"), "prompts", () => Promise.reject(RpcError.of(-32000, "no")));
    expect(writtenOf(catalog, "prompts")).toHaveLength(1);
  });

  test("count as empty after the timeout, until the late answer arrives", async () => {
    const { catalog, clock } = open();
    await catalog.refresh(listBy("s"), ask, {});
    let answer: (raw: Raw) => void = () => {};
    const late = catalog.refreshItems(
      listBy("s"),
      "prompts",
      () => new Promise((resolve) => (answer = resolve)),
    );
    clock.advance(2_999);
    expect(catalog.knows("s", "prompts")).toBe(false);
    clock.advance(1);
    expect(writtenOf(catalog, "prompts")).toEqual([]);
    answer(await ask("prompts/list", undefined));
    await late;
    expect(writtenOf(catalog, "prompts")).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});

test("loading prompts waits for the prompts, tries each child once, and reports those that failed", async () => {
  const { catalog, clock } = open();
  let connects = 0;
  let listed: Promise<void> | undefined;
  const loader = new CatalogLoader({
    catalog,
    clock,
    cooldownMs: () => 30_000,
    connect: async () => {
      connects++;
      await catalog.refresh(listBy("s"), ask, {});
      listed = new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
        catalog.refreshItems(listBy("s"), "prompts", ask),
      );
    },
  });
  expect(await loader.loadMissing(["s"], TEST_ORIGIN, 3_000, "prompts")).toEqual([]);
  await listed;
  expect(await loader.loadMissing(["s"], TEST_ORIGIN, 3_000, "tools")).toEqual([]);
  expect(connects).toBe(1);

  const down = new CatalogLoader({
    catalog,
    clock,
    cooldownMs: () => 30_000,
    connect: () => {
      connects++;
      return Promise.reject(new Error("down"));
    },
  });
  expect(await down.loadMissing(["s"], TEST_ORIGIN, 3_000, "resources")).toMatchObject([{ server: "s" }]);
  expect(await down.loadMissing(["s"], TEST_ORIGIN, 3_000, "templates")).toMatchObject([{ server: "s" }]);
  expect(connects).toBe(2);
});
