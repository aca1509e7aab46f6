/** What is stored of servers that fail, on both databases: when it is written, how often, and who hears of it. */
import { describe, expect, test } from "vitest";
import type { CompiledServer } from "../../../src/gateway/compile.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { Events } from "../../../src/kernel/events.ts";
import { silentLog as log } from "../../../src/kernel/log.ts";
import type { ConnectionState } from "../../../src/kernel/server-status.ts";
import { LastFailures } from "../../../src/serving/inspect/last-failures.ts";
import { StoreError } from "../../../src/store/error.ts";
import type { Store } from "../../../src/store/store.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const SECOND = 1_000;

function serverWith(uuid: string, command: string, perAccount?: string): CompiledServer {
  const object = { kind: "server", uuid, name: uuid, spec: { command } };
  return { object, spec: { perAccount }, reason: undefined, disabled: false } as unknown as CompiledServer;
}

/** A gateway whose servers do what the test says. */
async function gatewayOn(store: Store, names: readonly string[] = ["s"]) {
  const [clock, events] = [new ManualClock(), new Events()];
  const servers = new Map(names.map((name) => [name, serverWith(name, "a")]));
  const states = new Map<string, ConnectionState>();
  const failures = await LastFailures.open({
    store,
    events,
    clock,
    log,
    replica: "r",
    serverOf: (uuid) => servers.get(uuid),
    statusOf(uuid) {
      const state = states.get(uuid) ?? "idle";
      return { state, connected: state === "active" };
    },
  });
  const emit = (server: string, state: "connected" | "failed" | "closed", reason?: string) =>
    events.emit({ type: "connection", at: Date.now(), server, state, ...(reason && { reason }) });
  return {
    servers,
    states,
    failures,
    clock,
    of: (uuid = "s") => failures.of(servers.get(uuid) as CompiledServer),
    fails(reason: string, uuid = "s") {
      states.set(uuid, "failed");
      emit(uuid, "failed", reason);
    },
    connects(uuid = "s") {
      states.set(uuid, "active");
      emit(uuid, "connected");
    },
    emit,
  };
}

/** How many changes each write of the store has from now on. */
function countWrites({ records }: Store): readonly number[] {
  const [writes, write]: [number[], Store["records"]["write"]] = [[], records.write.bind(records)];
  records.write = async (changes) => {
    writes.push(changes.length);
    await write(changes);
  };
  return writes;
}

const databases = [
  ["SQLite", async () => sqliteDatabase(), undefined],
  ["Postgres", () => postgresDatabase(), noPostgres],
] as const;

describe.each(databases)("last failures in %s", (_, database, missing) => {
  const when = test.skipIf(missing);

  when("are written when they change, at most once a second, and never for servers that work", async () => {
    const store = await (await database()).open();
    const writes = countWrites(store);
    const one = await gatewayOn(store);
    for (let n = 0; n < 100; n++) one.connects();
    one.clock.advance(10 * SECOND);
    expect(writes).toEqual([]);

    one.fails("no such file");
    one.clock.advance(SECOND);
    await until(() => writes.length === 1);
    const first = one.of();
    expect(first).toEqual({ since: expect.any(String), reason: "no such file", replica: "r" });
    for (let n = 0; n < 100; n++) {
      one.fails("no such file");
      one.clock.advance(SECOND);
    }
    expect(writes).toEqual([1]);
    one.fails("another reason");
    one.clock.advance(SECOND);
    await until(() => writes.length === 2);
    expect(one.of()?.reason).toBe("another reason");
    expect(one.of()?.since).toBe(first?.since);

    for (let n = 0; n < 100; n++) {
      one.connects();
      one.fails("again");
    }
    one.connects();
    one.clock.advance(SECOND);
    await one.failures.close();
    expect(one.of()).toBeUndefined();
    expect(writes).toEqual([1, 1, 1]);
    expect(await store.records.list("server-failure")).toEqual([]);
  });

  when("count for the entry that failed, and not for one account", async () => {
    const store = await (await database()).open();
    const one = await gatewayOn(store, ["s", "own"]);
    one.servers.set("own", serverWith("own", "a", "account"));
    one.fails("not logged in", "own");
    one.fails("no such file");
    one.clock.advance(SECOND);
    await until(() => one.of());
    expect(one.of("own")).toBeUndefined();
    one.servers.set("s", serverWith("s", "b"));
    expect(one.of()).toBeUndefined();
    one.servers.set("s", serverWith("s", "a"));
    expect(one.of()?.reason).toBe("no such file");
  });

  when("say nothing of a server that is tried again, or of a process that ended in a call", async () => {
    const store = await (await database()).open();
    const one = await gatewayOn(store);
    one.emit("s", "failed", "the process ended");
    one.states.set("s", "idle");
    one.clock.advance(SECOND);
    one.emit("s", "failed", "no answer");
    one.states.set("s", "connecting");
    one.clock.advance(5 * SECOND);
    expect(one.of()).toBeUndefined();
    one.states.set("s", "failed");
    one.clock.advance(SECOND);
    expect(one.of()?.reason).toBe("no answer");
  });

  when("reach other gateways, of which the last word counts, and end with the server", async () => {
    const where = await database();
    const [store, second] = [
      await where.open(),
      where.url.startsWith("file:") ? undefined : await where.open(),
    ];
    const names = Array.from({ length: 250 }, (_, n) => `s${n}`);
    const writes = countWrites(store);
    const one = await gatewayOn(store, names);
    for (const name of names) one.fails("away", name);
    one.clock.advance(SECOND);
    await until(() => writes.length === 3);
    await one.failures.close();
    expect(writes).toEqual([100, 100, 50]);
    const two = await gatewayOn(second ?? store, names);
    expect(names.every((name) => two.of(name)?.reason === "away")).toBe(true);
    if (second) {
      const three = await gatewayOn(store, names);
      three.connects("s7");
      three.clock.advance(SECOND);
      await until(() => two.of("s7") === undefined);
      // While one works, another one's failure is not kept.
      two.fails("broken here", "s7");
      two.clock.advance(SECOND);
      await until(() => {
        three.clock.advance(SECOND);
        return two.of("s7") === undefined;
      });
      three.states.set("s7", "idle");
      two.fails("broken", "s7");
      two.clock.advance(SECOND);
      await until(() => three.of("s7")?.reason === "broken");
    }
    two.failures.forget("s0");
    await two.failures.close();
    // Of those that the config does not have any more nothing is kept either.
    const rest = names.slice(0, 10);
    await (await gatewayOn(store, rest)).failures.close();
    const ids = (await store.records.list("server-failure")).map(({ id }) => id);
    expect(ids).toEqual(rest.slice(1));
  });

  when("wait for a store that is away", async () => {
    const store = await (await database()).open();
    const one = await gatewayOn(store);
    const write = store.records.write.bind(store.records);
    store.records.write = async () => {
      throw new StoreError("unavailable");
    };
    one.fails("no such file");
    one.clock.advance(SECOND);
    await one.failures.close();
    expect(one.of()?.reason).toBe("no such file");
    store.records.write = write;
    await one.failures.close();
    expect(await store.records.list("server-failure")).toHaveLength(1);
  });
});
