import { describe, expect, test } from "vitest";
import { listBy, openCatalog, TEST_ORIGIN } from "../../test/support/catalog.ts";
import { temp } from "../../test/support/temp.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { toRaw } from "../kernel/raw.ts";
import { CatalogLoader, type UnknownServer } from "./catalog-loader.ts";

interface Connect {
  readonly server: ServerId;
  readonly origin: Origin;
  /** Connects and lists the tools. */
  succeed(): Promise<void>;
  fail(error: string | Error): void;
}

const setUp = (...servers: ServerId[]) => setUpIn(temp().home, ...servers);

function setUpIn(home: string, ...servers: ServerId[]) {
  const { clock, cache, catalog } = openCatalog(home);
  const configure = (identity: string): void =>
    catalog.configure(new Map(servers.map((server) => [server, { identity, permits: () => true }])));
  configure("id");
  const list = (server: ServerId): Promise<void> =>
    catalog.refresh(listBy(server), async () => toRaw({ tools: [{ name: "a" }] }), {});
  const connects: Connect[] = [];
  const loader = new CatalogLoader({
    catalog,
    clock,
    cooldownMs: () => 30_000,
    isInstalling: (server) => server === "downloaded",
    connect: (server, origin) =>
      new Promise((resolve, reject) => {
        connects.push({
          server,
          origin,
          succeed: () => list(server).then(resolve),
          fail: (error) => reject(typeof error === "string" ? new Error(error) : error),
        });
      }),
  });
  return { clock, cache, catalog, configure, list, connects, loader };
}

/** A promise with a flag that tells whether it has settled. */
function watch(answer: Promise<readonly UnknownServer[]>): {
  done: boolean;
  answer: Promise<readonly UnknownServer[]>;
} {
  const watched = { done: false, answer };
  void answer.finally(() => {
    watched.done = true;
  });
  return watched;
}

/** Waits until everything has run that needs neither time nor disk. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Waits until the loader has read the cache and started this many connects. */
async function untilConnects(connects: readonly unknown[], count: number): Promise<void> {
  while (connects.length < count) await settle();
}

describe("a known server", () => {
  test("is not connected if its list is in memory", async () => {
    const { list, loader, connects } = setUp("s");
    await list("s");
    expect(await loader.loadMissing(["s"], TEST_ORIGIN)).toEqual([]);
    expect(connects).toEqual([]);
  });

  test("is not connected if its list is in the disk cache", async () => {
    const { home } = temp();
    const earlier = setUpIn(home, "s", "t");
    await earlier.list("s");
    await earlier.list("t");
    await earlier.cache.flush();
    const { loader, connects, catalog } = setUpIn(home, "s", "t");
    expect(await loader.loadMissing(["s", "t"], TEST_ORIGIN)).toEqual([]);
    expect(connects).toEqual([]);
    expect(catalog.snapshot.listings.size).toBe(2);
  });
});

describe("an unknown server", () => {
  test("is connected in parallel with others, once for several requests, and only if requested", async () => {
    const { loader, connects, clock } = setUp("s", "t", "other");
    const both = [loader.loadMissing(["s", "t"], TEST_ORIGIN), loader.loadMissing(["t", "s"], TEST_ORIGIN)];
    await untilConnects(connects, 2);
    await settle();
    expect(connects.map(({ server }) => server)).toEqual(["s", "t"]);
    expect(connects[0]?.origin).toBe(TEST_ORIGIN);
    for (const connect of connects) await connect.succeed();
    expect(await Promise.all(both)).toEqual([[], []]);
    expect(clock.pending).toBe(0);
  });

  test("delays the answer until the deadline at most, and is returned with the reason", async () => {
    const { loader, connects, clock } = setUp("good", "bad", "slow", "downloaded");
    const first = watch(loader.loadMissing(["good", "bad", "slow", "downloaded"], TEST_ORIGIN));
    await untilConnects(connects, 4);
    await connects[0]?.succeed();
    connects[1]?.fail("spawn ENOENT");
    await settle();
    clock.advance(9_999);
    await settle();
    expect(first.done).toBe(false);
    clock.advance(1);
    expect(await first.answer).toEqual([
      { server: "bad", reason: "failed 10 s ago: spawn ENOENT; a call tries again" },
      { server: "slow", reason: "still starting after 10 s" },
      { server: "downloaded", reason: "still installing after 10 s" },
    ]);
  });

  test("that cannot be connected is returned with the cause alone, without the name and the advice for a call", async () => {
    const { loader, connects } = setUp("bad");
    const first = loader.loadMissing(["bad"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    const cause = new Error("The command was not found.");
    connects[0]?.fail(
      new MetaMcpError("server_unavailable", `bad: ${cause.message} Nothing was done.`, { cause }),
    );
    expect(await first).toEqual([
      { server: "bad", reason: "failed just now: The command was not found; a call tries again" },
    ]);
  });

  test("is not waited for twice", async () => {
    const { loader, connects, clock } = setUp("slow", "bad", "later");
    const first = loader.loadMissing(["slow", "bad"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    connects[1]?.fail("no.");
    await settle();
    clock.advance(12_000);
    await first;
    expect(await loader.loadMissing(["slow", "bad"], TEST_ORIGIN)).toEqual([
      { server: "slow", reason: "still starting after 12 s" },
      { server: "bad", reason: "failed 12 s ago: no; a call tries again" },
    ]);
    expect(connects).toHaveLength(2);
    const others = loader.loadMissing(["slow", "later"], TEST_ORIGIN);
    await untilConnects(connects, 3);
    await connects[2]?.succeed();
    expect(await others).toMatchObject([{ server: "slow" }]);
    expect(clock.pending).toBe(0);
  });

  test("delays later requests only for the rest of its deadline", async () => {
    const { loader, connects, clock } = setUp("slow");
    const first = watch(loader.loadMissing(["slow"], TEST_ORIGIN));
    await untilConnects(connects, 1);
    clock.advance(6_000);
    const second = watch(loader.loadMissing(["slow"], TEST_ORIGIN));
    const hasty = loader.loadMissing(["slow"], TEST_ORIGIN, 3_000);
    expect(await hasty).toEqual([{ server: "slow", reason: "still starting after 6 s" }]);
    await settle();
    expect([first.done, second.done]).toEqual([false, false]);
    clock.advance(4_000);
    expect(await second.answer).toEqual([{ server: "slow", reason: "still starting after 10 s" }]);
    await first.answer;
  });

  test("is connected again once the cooldown is over", async () => {
    const { loader, connects, clock } = setUp("bad");
    const first = loader.loadMissing(["bad"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    connects[0]?.fail("no");
    expect(await first).toEqual([{ server: "bad", reason: "failed just now: no; a call tries again" }]);
    clock.advance(29_999);
    expect(await loader.loadMissing(["bad"], TEST_ORIGIN)).toMatchObject([{ server: "bad" }]);
    expect(connects).toHaveLength(1);
    clock.advance(1);
    const again = loader.loadMissing(["bad"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    await connects[1]?.succeed();
    expect(await again).toEqual([]);
  });

  test("becomes known as soon as another connect lists its tools", async () => {
    const { loader, connects, list, clock } = setUp("s");
    const answer = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    await list("s");
    expect(await answer).toEqual([]);
    connects[0]?.fail("lost the race");
    expect(await loader.loadMissing(["s"], TEST_ORIGIN)).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("is connected again after forget, and results of earlier connects do not count", async () => {
    const { loader, connects } = setUp("s");
    const first = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    connects[0]?.fail("no");
    await first;
    loader.forget("s");
    const second = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    loader.forget("s");
    const third = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 3);
    connects[1]?.fail("old settings");
    expect(await second).toEqual([
      { server: "s", reason: "failed just now: old settings; a call tries again" },
    ]);
    await connects[2]?.succeed();
    expect(await third).toEqual([]);
  });

  test("whose settings changed during the connect stays unknown", async () => {
    const { loader, connects, configure, catalog } = setUp("s");
    const answer = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    const listed = catalog.refresh(listBy("s"), async () => toRaw({ tools: [] }), {});
    configure("new");
    loader.forget("s");
    await listed;
    expect(catalog.snapshot.listings.size).toBe(0);
    connects[0]?.fail("discarded");
    expect(await answer).toMatchObject([{ server: "s" }]);
  });

  test("is connected again when its tools become unknown", async () => {
    const { loader, connects, configure } = setUp("s");
    const first = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    await connects[0]?.succeed();
    expect(await first).toEqual([]);
    configure("new");
    const second = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    await connects[1]?.succeed();
    expect(await second).toEqual([]);
  });

  test("is connected once even if a forgotten connect ends meanwhile", async () => {
    const { loader, connects, configure, catalog } = setUp("s");
    const old = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 1);
    loader.forget("s");
    const first = loader.loadMissing(["s"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    const late = connects[0]?.succeed();
    configure("new");
    await late;
    expect(await old).toEqual([
      { server: "s", reason: "its settings changed while it was starting; ask again" },
    ]);
    const second = loader.loadMissing(["s"], TEST_ORIGIN);
    await catalog.loadCached();
    await settle();
    expect(connects).toHaveLength(2);
    await connects[1]?.succeed();
    expect(await Promise.all([first, second])).toEqual([[], []]);
  });

  test("leaves no listener behind", async () => {
    const { loader, connects, catalog, clock } = setUp("s", "t");
    const listening = new Set<unknown>();
    const onChange = catalog.onChange.bind(catalog);
    catalog.onChange = (listener) => {
      const stop = onChange(listener);
      listening.add(stop);
      return () => {
        listening.delete(stop);
        stop();
      };
    };
    const answer = loader.loadMissing(["s", "t"], TEST_ORIGIN);
    await untilConnects(connects, 2);
    await connects[0]?.succeed();
    expect(listening.size).toBe(1);
    clock.advance(10_000);
    await answer;
    expect(listening.size).toBe(0);
  });

  test("is reported if connecting throws synchronously or rejects with a value that is not an Error", async () => {
    const { catalog, clock } = setUp("s", "t");
    const loader = new CatalogLoader({
      catalog,
      clock,
      cooldownMs: () => 1,
      connect: (server) => {
        if (server === "s") throw new Error(`at once ${"x".repeat(10_000)}`);
        return Promise.reject("a word");
      },
    });
    const [s, t] = await loader.loadMissing(["s", "t"], TEST_ORIGIN);
    expect(s?.reason).toMatch(/^failed just now: at once x{400,500}; a call tries again$/);
    expect(t?.reason).toBe("failed just now: a word; a call tries again");
  });
});
