import { getEventListeners } from "node:events";
import { afterEach, expect, test } from "vitest";
import type { Lifecycle, PoolOptions } from "../config/spec.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { Pool } from "./pool.ts";
import type { Pooled, PoolSlot } from "./pool-slot.ts";

const defaults: PoolOptions = {
  poolSize: 2,
  resPoolSize: 0,
  minPoolSize: 0,
  resPoolTimeout: 5_000,
  idleTimeoutMs: 300_000,
  failureThreshold: 5,
  cooldownMs: 30_000,
};

class Connection implements Pooled {
  readonly label: string;
  readonly lifecycle: Lifecycle;
  reason: string | undefined;
  #settle: ((failure: Error | undefined) => void) | undefined;

  constructor(label: string, lifecycle: Lifecycle) {
    this.label = label;
    this.lifecycle = lifecycle;
  }

  end(reason: string): Promise<void> {
    if (this.reason !== undefined) throw new Error(`${this.label} is ended twice`);
    this.reason = reason;
    return new Promise((resolve, reject) => {
      this.#settle = (failure) => (failure ? reject(failure) : resolve());
    });
  }

  async gone(failure?: Error): Promise<void> {
    this.#settle?.(failure);
    await settled();
  }
}

/** All that follows from what has happened so far, short of time. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const open: Pool[] = [];
afterEach(() => {
  for (const pool of open.splice(0)) pool.close();
});

function setUp(options: Partial<PoolOptions> = {}) {
  const clock = new ManualClock();
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (_: string, fields?: unknown) => warnings.push(fields) };
  const pool = new Pool({ ...defaults, ...options }, clock, log);
  open.push(pool);

  /** A connected child that is idle. */
  const idle = async (label: string, lifecycle: Lifecycle = { mode: "default" }) => {
    const place = await pool.acquire(0);
    const connection = new Connection(label, lifecycle);
    place.occupy(connection);
    place.idle();
    return { place, connection };
  };
  /** A caller in the queue: what it got, as soon as it has got it. */
  const wait = (waitMs = 30_000, signal?: AbortSignal) => {
    const caller: { place?: PoolSlot; error?: unknown } = {};
    pool.acquire(waitMs, signal).then(
      (place) => {
        caller.place = place;
      },
      (error: unknown) => {
        caller.error = error;
      },
    );
    return caller;
  };
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settled();
  };
  return { clock, warnings, pool, idle, wait, advance };
}

const keepAlive: Lifecycle = { mode: "keep-alive" };

test("gives places up to its size, connecting ones included; the next caller waits its turn", async () => {
  const { pool, wait } = setUp();
  const first = await pool.acquire(0);
  await pool.acquire(0);
  const [third, fourth] = [wait(), wait()];
  await settled();
  expect(pool.stats).toEqual({ places: 2, idle: 0, waiting: 2 });

  first.free();
  first.free();
  await settled();
  expect(third.place).toBeDefined();
  expect(fourth.place).toBeUndefined();
});

test("has room where a place is free or one that is idle would yield, not where somebody would have to wait", async () => {
  const { pool, idle } = setUp();
  expect(pool.hasRoom).toBe(true);
  const { place } = await idle("a");
  await idle("kept", keepAlive);
  expect(pool.hasRoom).toBe(true);
  place.busy();
  expect(pool.hasRoom).toBe(false);
});

test("evicts the one that has been idle longest, and the place is free only once nothing of it is left", async () => {
  const { pool, idle, wait } = setUp();
  const [a, b] = [await idle("a"), await idle("b")];
  a.place.busy();
  a.place.idle();
  const caller = wait();
  await settled();
  expect([a.connection.reason, b.connection.reason]).toEqual([undefined, expect.any(String)]);
  expect(caller.place).toBeUndefined();
  expect(pool.stats).toEqual({ places: 2, idle: 1, waiting: 1 });

  await b.connection.gone();
  expect(caller.place).toBeDefined();
  expect(pool.stats.places).toBe(2);
});

test("becoming idle twice does not make it younger", async () => {
  const { idle, advance } = setUp();
  const { place, connection } = await idle("a");
  await advance(200_000);
  place.idle();
  await advance(160_000);
  expect(connection.reason).toBeDefined();
});

test("evicts for as many callers as wait, never twice for the same one", async () => {
  const { idle, wait } = setUp({ poolSize: 4 });
  const all = [await idle("a"), await idle("b"), await idle("c"), await idle("d")];
  const ended = () => all.filter(({ connection }) => connection.reason).length;
  wait();
  const giveUp = new AbortController();
  wait(30_000, giveUp.signal);
  expect(ended()).toBe(2);

  giveUp.abort();
  wait();
  expect(ended()).toBe(2);
  wait();
  expect(ended()).toBe(3);
});

test("a caller who waited for nothing hears what to do", async () => {
  const { pool, wait, advance } = setUp({ poolSize: 1 });
  await pool.acquire(0);
  const caller = wait(30_000);
  await advance(29_999);
  expect(caller.error).toBeUndefined();

  await advance(1);
  expect(caller.error).toMatchObject({
    code: "pool_exhausted",
    retryable: true,
    context: { retryAfterMs: 1_000 },
  });
  expect(String(caller.error)).toMatch(/All 1 connections.*30000 ms.*--max-connections/);
  expect(pool.stats.waiting).toBe(0);
});

test("a caller who leaves the queue gets its own reason, and its turn goes to the next", async () => {
  const { pool, wait, clock } = setUp({ poolSize: 1 });
  const held = await pool.acquire(0);
  const giveUp = new AbortController();
  const [first, second] = [wait(30_000, giveUp.signal), wait()];
  const reason = new Error("client is gone");
  giveUp.abort(reason);
  await settled();
  expect(first.error).toBe(reason);

  held.free();
  await settled();
  expect(second.place).toBeDefined();
  expect(clock.pending).toBe(1); // the sweep
  const refused = wait(30_000, AbortSignal.abort(reason));
  await settled();
  expect(refused.error).toBe(reason);
});

test("a caller who may wait for ever is not turned away", async () => {
  const { pool, wait, advance, clock } = setUp({ poolSize: 1 });
  const held = await pool.acquire(0);
  const caller = wait(Number.POSITIVE_INFINITY);
  expect(clock.pending).toBe(1); // the sweep
  await advance(86_400_000);
  held.free();
  await settled();
  expect(caller.place).toBeDefined();
});

test("a place whose connection could not be ended cleanly is free all the same", async () => {
  const { idle, wait, warnings } = setUp({ poolSize: 1 });
  const { connection } = await idle("a");
  const caller = wait();
  await connection.gone(new Error("no such process"));
  expect(caller.place).toBeDefined();
  expect(warnings).toMatchObject([{ child: "a", error: "Error: no such process" }]);
});

test("an evicted connection must not be used again; what still comes from it is ignored", async () => {
  const { idle, wait, pool } = setUp({ poolSize: 1 });
  const { place, connection } = await idle("a");
  wait();
  expect(() => place.busy()).toThrow(/ending \(a\)/);
  place.idle();
  expect(pool.stats.idle).toBe(0);
  place.free();
  await connection.gone();
  expect(pool.stats).toEqual({ places: 1, idle: 0, waiting: 0 });
  expect(() => place.busy()).toThrow(/free \(a\)/);
  expect(() => place.occupy(connection)).toThrow(/free \(a\)/);
});

test("a reserve place is for a caller who has waited for it, and goes again as soon as one is idle", async () => {
  const { pool, wait, advance } = setUp({ poolSize: 1, resPoolSize: 1 });
  const held = await pool.acquire(0);
  held.occupy(new Connection("a", { mode: "default" }));
  const [first, second] = [wait(5_000), wait()];
  await advance(4_999);
  expect(first.place).toBeUndefined();
  await advance(1);
  expect(first.place).toBeDefined();
  await advance(20_000);
  expect(second.place).toBeUndefined();

  const reserve = new Connection("b", { mode: "default" });
  first.place?.occupy(reserve);
  first.place?.idle();
  await reserve.gone();
  expect(second.place).toBeDefined();
  expect(pool.stats.places).toBe(2);
});

test("in an overfull pool any connection that becomes idle ends, a keep-alive one only if no other is to come", async () => {
  const { pool, wait, advance, idle } = setUp({ poolSize: 1, resPoolSize: 2 });
  const kept = await idle("kept", keepAlive);
  const [second, third] = [wait(), wait()];
  await advance(5_000);
  expect(pool.stats.places).toBe(3);
  const [other, plain] = [new Connection("other", keepAlive), new Connection("plain", { mode: "default" })];
  second.place?.occupy(other);
  third.place?.occupy(plain);
  second.place?.idle();
  expect(other.reason).toBeUndefined();

  third.place?.idle();
  expect(plain.reason).toBeDefined();
  await plain.gone();
  expect([kept.connection.reason, other.reason]).toEqual([expect.any(String), undefined]);
});

test("the sweep runs each minute and ends what was idle for too long, but not below the minimum", async () => {
  const { idle, advance } = setUp({ poolSize: 5, minPoolSize: 2 });
  const first = await idle("first");
  await advance(1);
  const [own, kept] = [
    await idle("own", { mode: "keep-alive", idleTimeoutMs: 1_000 }),
    await idle("kept", keepAlive),
  ];
  const late = await idle("late");
  const ended = () =>
    [first, own, kept, late].filter((each) => each.connection.reason).map((each) => each.connection.label);
  await advance(59_998);
  expect(ended()).toEqual([]);
  await advance(1);
  expect(ended()).toEqual(["own"]);
  await advance(240_000);
  expect(ended()).toEqual(["own"]); // idle for exactly the limit
  await advance(60_000);
  expect(ended()).toEqual(["first", "own"]);
  await advance(600_000);
  expect(ended()).toEqual(["first", "own"]);
});

test("the sweep spares keep-alive children, unless they have a limit of their own", async () => {
  const { idle, advance } = setUp({ poolSize: 3 });
  const kept = await idle("kept", keepAlive);
  const own = await idle("own", { mode: "keep-alive", idleTimeoutMs: 600_000 });
  const patient = await idle("patient", { mode: "default", idleTimeoutMs: 600_000 });
  const ended = () => [kept, own, patient].map(({ connection }) => connection.reason !== undefined);
  await advance(600_000);
  expect(ended()).toEqual([false, false, false]);
  await advance(60_000);
  expect(ended()).toEqual([false, true, true]);
  await advance(86_400_000);
  expect(kept.connection.reason).toBeUndefined();
});

test("an ephemeral connection ends as soon as it is idle, whatever the minimum", async () => {
  const { idle, pool } = setUp({ minPoolSize: 1 });
  const { connection } = await idle("a", { mode: "ephemeral" });
  expect(connection.reason).toBeDefined();
  await connection.gone();
  expect(pool.stats.places).toBe(0);
});

test("pressure does not go below the minimum while a place is on its way", async () => {
  const { idle, wait } = setUp({ poolSize: 3, minPoolSize: 2 });
  const all = [await idle("a"), await idle("b"), await idle("c")];
  const ended = () => all.filter(({ connection }) => connection.reason).length;
  const [first, second] = [wait(), wait()];
  expect(ended()).toBe(1);

  await all[0]?.connection.gone();
  expect(first.place).toBeDefined();
  expect(ended()).toBe(2);
  await all[1]?.connection.gone();
  expect(second.place).toBeDefined();
});

test("a minimum as large as the pool keeps nobody out", async () => {
  const { idle, wait } = setUp({ poolSize: 1, minPoolSize: 1 });
  const { connection } = await idle("a");
  const caller = wait();
  await connection.gone();
  expect(caller.place).toBeDefined();
});

test("a keep-alive child yields only when nothing else ever could, oldest first, with a warning", async () => {
  const { pool, idle, wait, warnings } = setUp({ poolSize: 3 });
  const [a, b] = [await idle("a", keepAlive), await idle("b", keepAlive)];
  const last = await pool.acquire(0);
  const caller = wait();
  expect(a.connection.reason).toBeUndefined(); // the connect may fail yet

  last.occupy(new Connection("c", keepAlive));
  expect([a.connection.reason, b.connection.reason]).toEqual([expect.any(String), undefined]);
  expect(warnings).toEqual([{ child: "a", poolSize: 3 }]);
  await a.connection.gone();
  expect(caller.place).toBeDefined();
});

test("a keep-alive child stays while a busy one may still become idle", async () => {
  const { idle, wait } = setUp();
  const [kept, plain] = [await idle("kept", keepAlive), await idle("plain")];
  plain.place.busy();
  wait();
  expect(kept.connection.reason).toBeUndefined();

  plain.place.idle();
  expect([kept.connection.reason, plain.connection.reason]).toEqual([undefined, expect.any(String)]);
});

test("keep-alive children that become idle only later yield to who waits then", async () => {
  const { idle, wait } = setUp({ poolSize: 1 });
  const { place, connection } = await idle("a", keepAlive);
  place.busy();
  const caller = wait();
  expect(connection.reason).toBeUndefined();
  place.idle();
  await connection.gone();
  expect(caller.place).toBeDefined();
});

test("of two callers only the first makes a keep-alive child yield, while its own connection may be another kind", async () => {
  const { idle, wait } = setUp();
  const [a, b] = [await idle("a", keepAlive), await idle("b", keepAlive)];
  const [first, second] = [wait(), wait()];
  const ended = () => [a, b].map(({ connection }) => connection.reason !== undefined);
  expect(ended()).toEqual([true, false]);
  await a.connection.gone();
  const plain = new Connection("plain", { mode: "default" });
  first.place?.occupy(plain);
  expect(ended()).toEqual([true, false]);

  first.place?.idle();
  await plain.gone();
  expect(second.place).toBeDefined();
  expect(ended()).toEqual([true, false]);
});

test("a keep-alive child does not yield to a caller for whom a reserve place comes in time", async () => {
  const { idle, wait, advance } = setUp({ poolSize: 1, resPoolSize: 1 });
  const { connection } = await idle("a", keepAlive);
  const patient = wait();
  await advance(5_000);
  expect(patient.place).toBeDefined();
  expect(connection.reason).toBeUndefined();

  patient.place?.free();
  wait(4_999);
  expect(connection.reason).toBeDefined();
});

test("new bounds apply from now on", async () => {
  const { pool, idle, wait, advance } = setUp({ poolSize: 3 });
  const all = [await idle("a"), await idle("b"), await idle("c", keepAlive)];
  pool.configure({ ...defaults, poolSize: 1 });
  expect(all.map(({ connection }) => connection.reason !== undefined)).toEqual([true, true, false]);
  for (const { connection } of all.slice(0, 2)) await connection.gone();

  all[2]?.place.busy();
  const [first, second] = [wait(), wait()];
  pool.configure({ ...defaults, poolSize: 2 });
  await settled();
  expect([first.place !== undefined, second.place !== undefined]).toEqual([true, false]);
  await advance(4_000);
  pool.configure({ ...defaults, poolSize: 2, resPoolSize: 1, resPoolTimeout: 4_500 });
  await advance(499);
  expect(second.place).toBeUndefined();
  await advance(1);
  expect(second.place).toBeDefined();
});

test("a caller who leaves may be the one for whom a keep-alive child was spared", async () => {
  const { idle, wait } = setUp({ poolSize: 1, resPoolSize: 1 });
  const { connection } = await idle("a", keepAlive);
  const giveUp = new AbortController();
  wait(30_000, giveUp.signal);
  wait(1_000);
  expect(connection.reason).toBeUndefined();
  giveUp.abort();
  expect(connection.reason).toBeDefined();
});

test("nothing listens to a caller's signal once it has its place", async () => {
  const { pool, wait } = setUp({ poolSize: 1 });
  const { signal } = new AbortController();
  const held = await pool.acquire(0, signal);
  const caller = wait(30_000, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  held.free();
  await settled();
  expect(caller.place).toBeDefined();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("closing turns the queue away and stops every timer", async () => {
  const { pool, wait, clock } = setUp({ poolSize: 1, resPoolSize: 1 });
  await pool.acquire(0);
  const caller = wait();
  pool.close();
  await settled();
  expect(caller.error).toMatchObject({ code: "server_unavailable" });
  expect(clock.pending).toBe(0);

  await expect(pool.acquire(0)).rejects.toMatchObject({ code: "server_unavailable" });
  expect(clock.pending).toBe(0);
});

test("a closed pool ends nothing by itself, and still knows what is left", async () => {
  const { pool, idle } = setUp({ poolSize: 3 });
  const [a, b] = [await idle("a"), await idle("b")];
  const place = await pool.acquire(0);
  const brief = new Connection("brief", { mode: "ephemeral" });
  place.occupy(brief);
  pool.close();
  pool.configure({ ...defaults, poolSize: 1 });
  place.idle();
  expect([a.connection.reason, b.connection.reason, brief.reason]).toEqual([undefined, undefined, undefined]);

  a.place.free();
  place.free();
  expect(pool.stats).toEqual({ places: 1, idle: 1, waiting: 0 });
});
