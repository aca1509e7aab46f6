import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { Availability } from "./availability.ts";
import type { Database, SqlRow } from "./database.ts";
import { DatabaseTime } from "./database-time.ts";
import { Feed } from "./feed.ts";
import type { StoreChange } from "./store.ts";
import { Watch } from "./watch.ts";

function setUp() {
  const clock = new ManualClock();
  const availability = new Availability(silentLog);
  const feed = new Feed(silentLog);
  const server = {
    rows: [{ kind: "", version: 0 }] as SqlRow[],
    away: false,
    polls: 0,
    listens: 0,
    connected: false,
  };
  const database = {
    query: async () => {
      server.polls++;
      if (server.away) throw new Error("away");
      return { rows: server.rows, count: 0 };
    },
  } as unknown as Database;
  const listener = {
    get connected() {
      return server.connected;
    },
    connect: async () => {
      server.listens++;
      server.connected = true;
    },
    close: () => {},
  };
  const changes: StoreChange[] = [];
  feed.on((change) => changes.push(change));
  let onNotification = () => {};
  const watch = new Watch(
    { database, feed, time: new DatabaseTime(() => 0), availability, clock, log: silentLog },
    (callback) => {
      onNotification = callback;
      return listener;
    },
  );
  return { clock, availability, server, changes, watch, notify: () => onNotification() };
}

const turn = () => new Promise(setImmediate);

test("polls again after it starts to listen, then every half second", async () => {
  const { clock, server } = setUp();
  await turn();
  expect(server).toMatchObject({ polls: 2, listens: 1 });
  clock.advance(499);
  await turn();
  expect(server.polls).toBe(2);
  clock.advance(1);
  await turn();
  expect(server).toMatchObject({ polls: 3, listens: 1 });
});

test("polls once more after notifications during a poll", async () => {
  const { server, changes, notify } = setUp();
  await turn();
  const { polls } = server;
  notify();
  notify();
  notify();
  server.rows = [{ kind: "key", version: 3 }];
  await turn();
  expect(server.polls - polls).toBe(2);
  expect(changes).toEqual([{ of: "records", kind: "key" }]);
});

test("polls less often while the store is down, and reports it as up before it reports changes", async () => {
  const { clock, availability, server, changes } = setUp();
  await turn();
  server.away = true;
  server.connected = false;
  const pauses: number[] = [];
  let before = server.polls;
  for (let at = 0; at < 9_000; at += 100) {
    clock.advance(100);
    await turn();
    if (server.polls > before) pauses.push(clock.now());
    before = server.polls;
  }
  expect(availability.state).toEqual({ up: false, reason: "away" });
  expect(pauses.map((time, i) => time - (pauses[i - 1] ?? 0))).toEqual([500, 1_000, 2_000, 2_000, 2_000]);

  server.away = false;
  server.rows = [{ kind: "", version: 4 }];
  const order: unknown[] = [];
  availability.on(({ up }) => order.push(up, [...changes]));
  clock.advance(2_000);
  await turn();
  expect(order).toEqual([true, []]);
  expect(changes).toEqual([{ of: "config", revision: 4 }]);
  // Changes are reported again, because listeners may have failed to read them.
  availability.down("away");
  clock.advance(2_000);
  await turn();
  expect(changes).toHaveLength(2);
  expect(server.listens).toBe(2);
});

test("does not poll after it is closed", async () => {
  const { clock, watch, server, notify } = setUp();
  await turn();
  await watch.close();
  const { polls } = server;
  notify();
  clock.advance(10_000);
  await turn();
  expect(server.polls).toBe(polls);
  expect(clock.pending).toBe(0);
});
