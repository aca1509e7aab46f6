import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { Availability } from "./availability.ts";
import type { Database, SqlRow } from "./database.ts";
import { Feed } from "./feed.ts";
import type { StoreChange } from "./store.ts";
import { Watch } from "./watch.ts";

function setUp() {
  const clock = new ManualClock();
  const availability = new Availability(silentLog);
  const feed = new Feed(silentLog);
  const world = {
    rows: [{ kind: "", version: 0 }] as SqlRow[],
    away: false,
    polls: 0,
    listens: 0,
    connected: false,
  };
  const database = {
    query: async () => {
      world.polls++;
      if (world.away) throw new Error("away");
      return { rows: world.rows, count: 0 };
    },
  } as unknown as Database;
  const listener = {
    get connected() {
      return world.connected;
    },
    connect: async () => {
      world.listens++;
      world.connected = true;
    },
    close: () => {},
  };
  const heard: StoreChange[] = [];
  feed.on((change) => heard.push(change));
  let told = () => {};
  const watch = new Watch({ database, feed, availability, clock, log: silentLog }, (heard) => {
    told = heard;
    return listener;
  });
  return { clock, availability, world, heard, watch, tell: () => told() };
}

const turn = () => new Promise(setImmediate);

test("polls again after it has begun to listen, then every half second", async () => {
  const { clock, world } = setUp();
  await turn();
  expect(world).toMatchObject({ polls: 2, listens: 1 });
  clock.advance(499);
  await turn();
  expect(world.polls).toBe(2);
  clock.advance(1);
  await turn();
  expect(world).toMatchObject({ polls: 3, listens: 1 });
});

test("polls once more when it is told while it polls", async () => {
  const { world, heard, tell } = setUp();
  await turn();
  const { polls } = world;
  tell();
  tell();
  tell();
  world.rows = [{ kind: "key", version: 3 }];
  await turn();
  expect(world.polls - polls).toBe(2);
  expect(heard).toEqual([{ of: "records", kind: "key" }]);
});

test("says that the store is up, then tells everything, so that it can be read; pauses longer while it is not", async () => {
  const { clock, availability, world, heard } = setUp();
  await turn();
  world.away = true;
  world.connected = false;
  const pauses: number[] = [];
  let before = world.polls;
  for (let at = 0; at < 9_000; at += 100) {
    clock.advance(100);
    await turn();
    if (world.polls > before) pauses.push(clock.now());
    before = world.polls;
  }
  expect(availability.state).toEqual({ up: false, reason: "away" });
  expect(pauses.map((time, i) => time - (pauses[i - 1] ?? 0))).toEqual([500, 1_000, 2_000, 2_000, 2_000]);

  world.away = false;
  world.rows = [{ kind: "", version: 4 }];
  const order: unknown[] = [];
  availability.on(({ up }) => order.push(up, [...heard]));
  clock.advance(2_000);
  await turn();
  expect(order).toEqual([true, []]);
  expect(heard).toEqual([{ of: "config", revision: 4 }]);
  // Whoever was told that before may have failed to read it.
  availability.down("away");
  clock.advance(2_000);
  await turn();
  expect(heard).toHaveLength(2);
  expect(world.listens).toBe(2);
});

test("does nothing more once it is closed", async () => {
  const { clock, watch, world, tell } = setUp();
  await turn();
  await watch.close();
  const { polls } = world;
  tell();
  clock.advance(10_000);
  await turn();
  expect(world.polls).toBe(polls);
  expect(clock.pending).toBe(0);
});
