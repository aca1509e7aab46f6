import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listBy } from "../../test/support/catalog.ts";
import type { ServerId } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { type Log, silentLog } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { ToolCache } from "./cache.ts";
import { type About, Catalog, type CatalogChange, type CatalogServer, type Snapshot } from "./catalog.ts";
import type { Ask } from "./list-tools.ts";
import type { Hit, SearchStrategy, ServerText } from "./search/strategy.ts";
import type { Tool } from "./tool.ts";

/** A search strategy that only records its input. */
class RecordingSearch implements SearchStrategy {
  readonly servers = new Map<ServerId, { tools: readonly Tool[]; text: ServerText | undefined }>();
  updates = 0;

  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void {
    this.updates += 1;
    this.servers.set(server, { tools, text });
  }

  remove(server: ServerId): void {
    this.servers.delete(server);
  }

  async search(): Promise<readonly Hit[]> {
    return [];
  }
}

const ABOUT: About = { title: "Title", version: "1", instructions: "be kind", era: "2025-11-25" };
const anything = (): boolean => true;
const offering =
  (...tools: (string | object)[]): Ask =>
  async () =>
    toRaw({
      tools: tools.map((tool) => ({
        inputSchema: { type: "object" },
        ...(typeof tool === "string" ? { name: tool } : tool),
      })),
    });
const servers = (all: Record<ServerId, Partial<CatalogServer>>): Map<ServerId, CatalogServer> =>
  new Map(Object.entries(all).map(([name, rest]) => [name, { identity: "id", permits: anything, ...rest }]));
const namesOf = (snapshot: Snapshot, server: ServerId): string[] | undefined =>
  snapshot.listings.get(server)?.tools.map(({ name }) => name);

let home: string;
const caches: ToolCache[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "metamcp-catalog-"));
});
afterEach(async () => {
  await Promise.all(caches.splice(0).map((cache) => cache.flush()));
  await rm(home, { recursive: true, force: true });
});

function open(folder = home, log: Log = silentLog) {
  const search = new RecordingSearch();
  const cache = new ToolCache({ home: folder, log });
  caches.push(cache);
  const catalog = new Catalog({ cache, search, clock: new ManualClock(), log });
  const changes: CatalogChange[] = [];
  catalog.onChange((change) => changes.push(change));
  return { catalog, search, cache, changes };
}

/** Writes the cache as an earlier process would. */
async function earlier(server: ServerId, identity: string, ask: Ask): Promise<void> {
  const { catalog, cache } = open();
  catalog.configure(servers({ [server]: { identity } }));
  await catalog.refresh(listBy(server), ask, ABOUT);
  await cache.flush();
}

describe("a refreshed list", () => {
  test("is published, indexed, reported to listeners and cached", async () => {
    const { catalog, search, cache, changes } = open();
    catalog.configure(servers({ s: {} }));
    const before = catalog.snapshot;
    await catalog.refresh(listBy("s"), offering("a", "b"), ABOUT);
    expect(catalog.snapshot.version).toBeGreaterThan(before.version);
    expect(before.listings.size).toBe(0);
    expect(catalog.snapshot.listings.get("s")).toMatchObject({ source: "live", about: ABOUT });
    expect(catalog.snapshot.tool("s", "b")).toMatchObject({ server: "s", name: "b" });
    expect(catalog.snapshot.tool("s", "c")).toBeUndefined();
    expect(catalog.snapshot.tool("t", "a")).toBeUndefined();
    expect(catalog.isLive("s")).toBe(true);
    expect(search.servers.get("s")?.text).toEqual({ title: "Title", description: "be kind" });
    expect(changes).toEqual([{ snapshot: catalog.snapshot, servers: ["s"] }]);
    await cache.flush();
    expect(await new ToolCache({ home, log: silentLog }).read("s", "id")).toMatchObject([{ about: ABOUT }]);
  });

  test("with equal content in another order changes nothing", async () => {
    const { catalog, search, cache, changes } = open();
    catalog.configure(servers({ s: {} }));
    await catalog.refresh(listBy("s"), offering({ name: "a", description: "x", title: "y" }, "b"), ABOUT);
    await cache.flush();
    const { snapshot } = catalog;
    const file = await stat(join(home, "cache", "s", "schema.json"));
    await catalog.refresh(listBy("s"), offering("b", { title: "y", name: "a", description: "x" }), {
      ...ABOUT,
    });
    await cache.flush();
    expect(catalog.snapshot).toBe(snapshot);
    expect(changes).toHaveLength(1);
    expect(search.updates).toBe(1);
    expect((await stat(join(home, "cache", "s", "schema.json"))).ino).toBe(file.ino);
  });

  test.each([
    ["a description", { name: "a", description: "other" }],
    ["a schema", { name: "a", inputSchema: { type: "object", required: ["x"] } }],
    ["an annotation", { name: "a", annotations: { destructiveHint: true } }],
    ["an unknown field", { name: "a", "x-new": 1 }],
    ["a name", { name: "b" }],
  ])("that differs in %s is a change", async (_, definition) => {
    const { catalog, changes } = open();
    catalog.configure(servers({ s: {} }));
    await catalog.refresh(listBy("s"), offering({ name: "a" }), ABOUT);
    await catalog.refresh(listBy("s"), offering(definition), ABOUT);
    expect(changes).toHaveLength(2);
    expect(catalog.snapshot.listings.get("s")?.tools[0]?.definition.toString()).toBe(
      JSON.stringify({ inputSchema: { type: "object" }, ...definition }),
    );
  });

  test("of a child with new instructions is a change", async () => {
    const { catalog, search, cache, changes } = open();
    catalog.configure(servers({ s: {} }));
    await catalog.refresh(listBy("s"), offering("a"), ABOUT);
    await catalog.refresh(listBy("s"), offering("a"), { ...ABOUT, instructions: "be quick" });
    await cache.flush();
    expect(changes).toHaveLength(2);
    expect(catalog.snapshot.listings.get("s")?.about.instructions).toBe("be quick");
    expect(search.servers.get("s")?.text?.description).toBe("be quick");
    expect((await cache.read("s", "id"))[0]?.about.instructions).toBe("be quick");
  });

  test("that is invalid changes nothing, and refresh rejects", async () => {
    const { catalog, changes } = open();
    catalog.configure(servers({ s: {} }));
    await catalog.refresh(listBy("s"), offering("a"), ABOUT);
    const { snapshot } = catalog;
    await expect(catalog.refresh(listBy("s"), async () => toRaw({}), ABOUT)).rejects.toThrow(
      "no list of tools",
    );
    expect(catalog.snapshot).toBe(snapshot);
    expect(changes).toHaveLength(1);
  });

  test("with invalid entries is logged with the server's name", async () => {
    const warnings: unknown[] = [];
    const { catalog } = open(home, {
      ...silentLog,
      warn: (message, fields) => warnings.push([message, fields]),
    });
    catalog.configure(servers({ s: {} }));
    await catalog.refresh(listBy("s"), offering("a", { nameless: true }), ABOUT);
    expect(warnings).toEqual([
      ["1 entry of its tools/list cannot be used: 1 without a usable name", { server: "s" }],
    ]);
  });

  test("of a server that is not configured is ignored", async () => {
    const { catalog } = open();
    await catalog.refresh(listBy("s"), offering("a"), ABOUT);
    expect(catalog.snapshot.listings.size).toBe(0);
    expect(catalog.isLive("s")).toBe(false);
  });

  test("with a huge text is indexed by its beginning", async () => {
    const { catalog, search } = open();
    catalog.configure(servers({ s: {} }));
    const long = "x".repeat(1_000_000);
    await catalog.refresh(listBy("s"), offering({ name: "a", description: long }), { instructions: long });
    expect(search.servers.get("s")?.tools[0]?.description).toHaveLength(10_240);
    expect(search.servers.get("s")?.text?.description).toHaveLength(10_240);
  });
});

describe("overlapping refreshes", () => {
  function slowly(): { ask: Ask; answer: (...names: string[]) => void; fail: () => void } {
    let settle: { resolve: (raw: Raw) => void; reject: (error: Error) => void } | undefined;
    const answered = new Promise<Raw>((resolve, reject) => {
      settle = { resolve, reject };
    });
    return {
      ask: () => answered,
      answer: (...names) => settle?.resolve(toRaw({ tools: names.map((name) => ({ name })) })),
      fail: () => settle?.reject(new Error("gone")),
    };
  }

  test("end with the list that was requested last, whichever answers last", async () => {
    const { catalog } = open();
    catalog.configure(servers({ s: {} }));
    const [first, second] = [slowly(), slowly()];
    const both = [
      catalog.refresh(listBy("s"), first.ask, ABOUT),
      catalog.refresh(listBy("s"), second.ask, ABOUT),
    ];
    second.answer("new");
    await both[1];
    first.answer("old");
    await both[0];
    expect(namesOf(catalog.snapshot, "s")).toEqual(["new"]);
  });

  test("end with the older list if the newest request fails", async () => {
    const { catalog } = open();
    catalog.configure(servers({ s: {} }));
    const [first, second] = [slowly(), slowly()];
    const both = [
      catalog.refresh(listBy("s"), first.ask, ABOUT),
      catalog.refresh(listBy("s"), second.ask, ABOUT),
    ];
    second.fail();
    await expect(both[1]).rejects.toThrow("gone");
    first.answer("old");
    await both[0];
    expect(namesOf(catalog.snapshot, "s")).toEqual(["old"]);
  });

  test("need no identity of servers that nobody lists", () => {
    const { catalog } = open();
    const unknown = {
      get identity(): string {
        throw new Error("computed too early");
      },
      permits: () => true,
    };
    catalog.configure(new Map([["s", unknown]]));
    expect(catalog.isLive("s")).toBe(false);
  });

  test("are ignored if the settings changed meanwhile", async () => {
    const { catalog, cache } = open();
    catalog.configure(servers({ s: { identity: "one" } }));
    const late = slowly();
    const refresh = catalog.refresh(listBy("s"), late.ask, ABOUT);
    catalog.configure(servers({ s: { identity: "two" } }));
    late.answer("a");
    await refresh;
    await cache.flush();
    expect(catalog.snapshot.listings.size).toBe(0);
    expect(catalog.isLive("s")).toBe(false);
    expect(await readdir(home)).toEqual([]);
  });
});

describe("the cache", () => {
  test("is read by loadCached, not before, and its lists are not live", async () => {
    await earlier("s", "id", offering("a"));
    const { catalog, changes } = open();
    catalog.configure(servers({ s: {}, t: {} }));
    expect(catalog.snapshot.listings.size).toBe(0);
    await Promise.all([catalog.loadCached(), catalog.loadCached()]);
    expect(namesOf(catalog.snapshot, "s")).toEqual(["a"]);
    expect(catalog.snapshot.listings.get("s")).toMatchObject({ source: "cache", about: ABOUT });
    expect(catalog.snapshot.listings.has("t")).toBe(false);
    expect(catalog.isLive("s")).toBe(false);
    expect(changes.map((change) => change.servers)).toEqual([["s"]]);
  });

  test("becomes live without a change when the child lists the same", async () => {
    await earlier("s", "id", offering("a"));
    const { catalog, changes } = open();
    catalog.configure(servers({ s: {} }));
    await catalog.loadCached();
    const before = catalog.snapshot;
    await catalog.refresh(listBy("s"), offering("a"), ABOUT);
    expect(catalog.snapshot.listings.get("s")?.source).toBe("live");
    expect(before.listings.get("s")?.source).toBe("cache");
    expect(catalog.snapshot.version).toBe(before.version);
    expect(catalog.snapshot.listings.get("s")?.tools).toBe(before.listings.get("s")?.tools);
    expect(changes).toHaveLength(1);
  });

  test("never replaces a list that the child returned meanwhile", async () => {
    await earlier("s", "id", offering("old"));
    const { catalog } = open();
    catalog.configure(servers({ s: {} }));
    const load = catalog.loadCached();
    await catalog.refresh(listBy("s"), offering("new"), ABOUT);
    await load;
    expect(namesOf(catalog.snapshot, "s")).toEqual(["new"]);
    expect(catalog.isLive("s")).toBe(true);
  });

  test("does not mix two servers with the same name", async () => {
    await earlier("s", "one", offering("a"));
    const { catalog, changes } = open();
    catalog.configure(servers({ s: { identity: "two" } }));
    await catalog.loadCached();
    expect(catalog.snapshot.listings.size).toBe(0);
    expect(changes).toEqual([]);
    catalog.configure(servers({ s: { identity: "one" } }));
    await catalog.loadCached();
    expect(namesOf(catalog.snapshot, "s")).toEqual(["a"]);
  });

  test("contains tools that the rules hide", async () => {
    const { catalog, search, cache } = open();
    catalog.configure(servers({ s: { permits: (tool) => tool !== "b" } }));
    await catalog.refresh(listBy("s"), offering("a", "b"), ABOUT);
    await cache.flush();
    expect(namesOf(catalog.snapshot, "s")).toEqual(["a"]);
    expect(catalog.snapshot.tool("s", "b")).toBeUndefined();
    expect(search.servers.get("s")?.tools).toHaveLength(1);
    expect((await cache.read("s", "id"))[0]?.tools).toHaveLength(2);
  });
});

describe("configure", () => {
  test("removes servers, drops lists and hides tools at once, and reports only those servers", async () => {
    const { catalog, search, changes } = open();
    catalog.configure(servers({ gone: {}, moved: {}, ruled: {}, same: {} }));
    for (const server of ["gone", "moved", "ruled", "same"])
      await catalog.refresh(listBy(server), offering("a", "b"), ABOUT);
    const kept = catalog.snapshot.listings.get("same");
    changes.length = 0;
    const permits = (tool: string): boolean => tool === "a";
    catalog.configure(
      servers({ moved: { identity: "new" }, ruled: { permits }, same: { permits: () => true } }),
    );
    expect(changes.map((change) => [...change.servers].sort())).toEqual([["gone", "moved", "ruled"]]);
    expect([...catalog.snapshot.listings.keys()].sort()).toEqual(["ruled", "same"]);
    expect([...search.servers.keys()].sort()).toEqual(["ruled", "same"]);
    expect(namesOf(catalog.snapshot, "ruled")).toEqual(["a"]);
    expect(catalog.snapshot.listings.get("same")).toBe(kept);
    expect(["gone", "moved", "ruled"].map((server) => catalog.isLive(server))).toEqual([false, false, true]);
    catalog.configure(servers({ moved: { identity: "new" }, ruled: {}, same: {} }));
    expect(namesOf(catalog.snapshot, "ruled")).toEqual(["a", "b"]);
  });

  test("makes changes of hidden tools invisible", async () => {
    const { catalog, changes } = open();
    catalog.configure(servers({ s: { permits: (tool) => tool !== "b" } }));
    await catalog.refresh(listBy("s"), offering("a", "b"), ABOUT);
    const { snapshot } = catalog;
    await catalog.refresh(listBy("s"), offering("a", { name: "b", description: "other" }), ABOUT);
    expect(catalog.snapshot).toBe(snapshot);
    expect(changes).toHaveLength(1);
  });
});

test("a failing listener or search strategy does not affect the catalog and other listeners", async () => {
  const { catalog, search, changes } = open();
  const stop = catalog.onChange(() => {
    throw new Error("listener");
  });
  let late = 0;
  catalog.onChange(() => {
    late += 1;
  });
  search.update = () => {
    throw new Error("strategy");
  };
  catalog.configure(servers({ s: {} }));
  await catalog.refresh(listBy("s"), offering("a"), ABOUT);
  expect(namesOf(catalog.snapshot, "s")).toEqual(["a"]);
  stop();
  await catalog.refresh(listBy("s"), offering("b"), ABOUT);
  expect(changes).toHaveLength(2);
  expect(late).toBe(2);
});

describe("after any sequence of changes", () => {
  const SERVERS = ["s", "t", "__proto__"];
  const TOOLS = ["a", "b", "constructor"];
  const offer = fc.record({
    tools: fc
      .dictionary(fc.constantFrom(...TOOLS), fc.constantFrom("x", "y"))
      .map((all) => new Map(Object.entries(all))),
    title: fc.constantFrom("T", "U"),
  });
  type Offer = { tools: Map<string, string>; title: string };
  interface Rule {
    readonly identity: string;
    readonly denied: readonly string[];
  }
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("refresh" as const),
        server: fc.constantFrom(...SERVERS),
        offer,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("configure" as const),
        rules: fc.array(
          fc.tuple(
            fc.constantFrom(...SERVERS),
            fc.record({ identity: fc.constantFrom("one", "two"), denied: fc.subarray(TOOLS) }),
          ),
        ),
      }),
    },
    fc.record({ kind: fc.constant("load" as const) }),
  );

  /** The visible content in a comparable form. */
  const seen = (snapshot: Snapshot): Map<string, unknown> =>
    new Map(
      [...snapshot.listings].map(([server, { tools, about }]) => [
        server,
        { title: about.title, tools: new Map(tools.map(({ name, description }) => [name, description])) },
      ]),
    );

  class Model {
    rules = new Map<ServerId, Rule>();
    readonly lists = new Map<ServerId, Offer>();
    readonly disk = new Map<string, Offer>();

    configure(rules: Map<ServerId, Rule>): void {
      for (const [server, { identity }] of this.rules) {
        if (rules.get(server)?.identity !== identity) this.lists.delete(server);
      }
      this.rules = rules;
    }

    refresh(server: ServerId, list: Offer): void {
      const rule = this.rules.get(server);
      if (!rule) return;
      this.lists.set(server, list);
      this.disk.set(`${rule.identity} ${server}`, list);
    }

    load(): void {
      for (const [server, { identity }] of this.rules) {
        const list = this.lists.get(server) ?? this.disk.get(`${identity} ${server}`);
        if (list) this.lists.set(server, list);
      }
    }

    seen(): Map<string, unknown> {
      return new Map(
        [...this.lists].map(([server, { title, tools }]) => {
          const denied = this.rules.get(server)?.denied ?? [];
          return [server, { title, tools: new Map([...tools].filter(([name]) => !denied.includes(name))) }];
        }),
      );
    }
  }

  test("the snapshot matches the last lists and rules, and its version changes exactly with the visible content", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const folder = await mkdtemp(join(home, "run-"));
        const { catalog, search, cache, changes } = open(folder);
        const model = new Model();
        for (const action of steps) {
          const before = catalog.snapshot;
          const seenBefore = seen(before);
          changes.length = 0;
          if (action.kind === "refresh") {
            const { server, offer: list } = action;
            const tools = [...list.tools].map(([name, description]) => ({ name, description }));
            await catalog.refresh(listBy(server), offering(...tools), { title: list.title });
            await cache.flush();
            model.refresh(server, list);
          } else if (action.kind === "configure") {
            const rules = new Map<ServerId, Rule>(action.rules);
            catalog.configure(
              new Map(
                [...rules].map(([server, { identity, denied }]) => [
                  server,
                  { identity, permits: (tool) => !denied.includes(tool) },
                ]),
              ),
            );
            model.configure(rules);
          } else {
            await catalog.loadCached();
            model.load();
          }
          const seenAfter = seen(catalog.snapshot);
          expect(seenAfter).toEqual(model.seen());
          const differing = SERVERS.filter((server) => !equal(seenBefore.get(server), seenAfter.get(server)));
          expect(changes.flatMap((change) => [...change.servers]).sort()).toEqual([...differing].sort());
          expect(catalog.snapshot.version !== before.version).toBe(differing.length > 0);
          expect([...search.servers.keys()].sort()).toEqual([...seenAfter.keys()].sort());
          for (const [server, { tools }] of catalog.snapshot.listings) {
            expect(search.servers.get(server)?.tools).toEqual(tools);
            for (const tool of tools) expect(catalog.snapshot.tool(server, tool.name)).toBe(tool);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

function equal(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b);
    return true;
  } catch {
    return false;
  }
}
