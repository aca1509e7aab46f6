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

/** Waits until all pending promises are handled. Time does not advance. */
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

  /** Adds an idle connection. */
  const idle = async (label: string, lifecycle: Lifecycle = { mode: "default" }) => {
    const slot = await pool.acquire(0);
    const connection = new Connection(label, lifecycle);
    slot.occupy(connection);
    slot.idle();
    return { slot, connection };
  };
  /** Adds a caller to the queue. Its slot or error is set once it has one. */
  const wait = (waitMs = 30_000, signal?: AbortSignal) => {
    const caller: { slot?: PoolSlot; error?: unknown } = {};
    pool.acquire(waitMs, signal).then(
      (slot) => {
        caller.slot = slot;
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

test("the pool gives out slots up to its size, including those that are connecting; further callers wait in order", async () => {
  const { pool, wait } = setUp();
  const first = await pool.acquire(0);
  await pool.acquire(0);
  const [third, fourth] = [wait(), wait()];
  await settled();
  expect(pool.stats).toEqual({ slots: 2, idle: 0, waiting: 2 });

  first.free();
  first.free();
  await settled();
  expect(third.slot).toBeDefined();
  expect(fourth.slot).toBeUndefined();
});

test("the pool has room if a slot is free or an idle connection can be evicted, but not if all are busy or keep-alive", async () => {
  const { pool, idle } = setUp();
  expect(pool.hasRoom).toBe(true);
  const { slot } = await idle("a");
  await idle("kept", keepAlive);
  expect(pool.hasRoom).toBe(true);
  slot.busy();
  expect(pool.hasRoom).toBe(false);
});

test("the pool evicts the connection that is idle for longest, and its slot is free only after it has ended", async () => {
  const { pool, idle, wait } = setUp();
  const [a, b] = [await idle("a"), await idle("b")];
  a.slot.busy();
  a.slot.idle();
  const caller = wait();
  await settled();
  expect([a.connection.reason, b.connection.reason]).toEqual([undefined, expect.any(String)]);
  expect(caller.slot).toBeUndefined();
  expect(pool.stats).toEqual({ slots: 2, idle: 1, waiting: 1 });

  await b.connection.gone();
  expect(caller.slot).toBeDefined();
  expect(pool.stats.slots).toBe(2);
});

test("a second idle() does not reset the idle time", async () => {
  const { idle, advance } = setUp();
  const { slot, connection } = await idle("a");
  await advance(200_000);
  slot.idle();
  await advance(160_000);
  expect(connection.reason).toBeDefined();
});

test("the pool evicts one connection per waiting caller, never two for the same caller", async () => {
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

test("a caller that waited in vain gets pool_exhausted with advice", async () => {
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

test("a caller that cancels is rejected with its own reason, and the next caller gets the slot", async () => {
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
  expect(second.slot).toBeDefined();
  expect(clock.pending).toBe(1); // the sweep
  const refused = wait(30_000, AbortSignal.abort(reason));
  await settled();
  expect(refused.error).toBe(reason);
});

test("a caller with an infinite wait time does not time out", async () => {
  const { pool, wait, advance, clock } = setUp({ poolSize: 1 });
  const held = await pool.acquire(0);
  const caller = wait(Number.POSITIVE_INFINITY);
  expect(clock.pending).toBe(1); // the sweep
  await advance(86_400_000);
  held.free();
  await settled();
  expect(caller.slot).toBeDefined();
});

test("a slot becomes free even if its connection did not end cleanly", async () => {
  const { idle, wait, warnings } = setUp({ poolSize: 1 });
  const { connection } = await idle("a");
  const caller = wait();
  await connection.gone(new Error("no such process"));
  expect(caller.slot).toBeDefined();
  expect(warnings).toMatchObject([{ child: "a", error: "Error: no such process" }]);
});

test("an evicted connection cannot be used again, and its late idle() is ignored", async () => {
  const { idle, wait, pool } = setUp({ poolSize: 1 });
  const { slot, connection } = await idle("a");
  wait();
  expect(() => slot.busy()).toThrow(/ending \(a\)/);
  slot.idle();
  expect(pool.stats.idle).toBe(0);
  slot.free();
  await connection.gone();
  expect(pool.stats).toEqual({ slots: 1, idle: 0, waiting: 0 });
  expect(() => slot.busy()).toThrow(/free \(a\)/);
  expect(() => slot.occupy(connection)).toThrow(/free \(a\)/);
});

test("a caller gets a reserve slot after the reserve timeout, and a reserve connection ends as soon as it is idle", async () => {
  const { pool, wait, advance } = setUp({ poolSize: 1, resPoolSize: 1 });
  const held = await pool.acquire(0);
  held.occupy(new Connection("a", { mode: "default" }));
  const [first, second] = [wait(5_000), wait()];
  await advance(4_999);
  expect(first.slot).toBeUndefined();
  await advance(1);
  expect(first.slot).toBeDefined();
  await advance(20_000);
  expect(second.slot).toBeUndefined();

  const reserve = new Connection("b", { mode: "default" });
  first.slot?.occupy(reserve);
  first.slot?.idle();
  await reserve.gone();
  expect(second.slot).toBeDefined();
  expect(pool.stats.slots).toBe(2);
});

test("in an overfull pool an idle connection ends, but a keep-alive one only if no other can end instead", async () => {
  const { pool, wait, advance, idle } = setUp({ poolSize: 1, resPoolSize: 2 });
  const kept = await idle("kept", keepAlive);
  const [second, third] = [wait(), wait()];
  await advance(5_000);
  expect(pool.stats.slots).toBe(3);
  const [other, plain] = [new Connection("other", keepAlive), new Connection("plain", { mode: "default" })];
  second.slot?.occupy(other);
  third.slot?.occupy(plain);
  second.slot?.idle();
  expect(other.reason).toBeUndefined();

  third.slot?.idle();
  expect(plain.reason).toBeDefined();
  await plain.gone();
  expect([kept.connection.reason, other.reason]).toEqual([expect.any(String), undefined]);
});

test("the sweep runs each minute and ends connections that are idle for too long, down to the minimum", async () => {
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

test("the sweep does not end keep-alive connections, unless they have their own idle timeout", async () => {
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

test("an ephemeral connection ends as soon as it is idle, even below the minimum", async () => {
  const { idle, pool } = setUp({ minPoolSize: 1 });
  const { connection } = await idle("a", { mode: "ephemeral" });
  expect(connection.reason).toBeDefined();
  await connection.gone();
  expect(pool.stats.slots).toBe(0);
});

test("eviction does not go below the minimum while another connection is ending", async () => {
  const { idle, wait } = setUp({ poolSize: 3, minPoolSize: 2 });
  const all = [await idle("a"), await idle("b"), await idle("c")];
  const ended = () => all.filter(({ connection }) => connection.reason).length;
  const [first, second] = [wait(), wait()];
  expect(ended()).toBe(1);

  await all[0]?.connection.gone();
  expect(first.slot).toBeDefined();
  expect(ended()).toBe(2);
  await all[1]?.connection.gone();
  expect(second.slot).toBeDefined();
});

test("with a minimum as large as the pool a waiting caller still gets a slot", async () => {
  const { idle, wait } = setUp({ poolSize: 1, minPoolSize: 1 });
  const { connection } = await idle("a");
  const caller = wait();
  await connection.gone();
  expect(caller.slot).toBeDefined();
});

test("a keep-alive connection is evicted only if no other slot can become free, oldest first, with a warning", async () => {
  const { pool, idle, wait, warnings } = setUp({ poolSize: 3 });
  const [a, b] = [await idle("a", keepAlive), await idle("b", keepAlive)];
  const last = await pool.acquire(0);
  const caller = wait();
  expect(a.connection.reason).toBeUndefined(); // the connect may fail yet

  last.occupy(new Connection("c", keepAlive));
  expect([a.connection.reason, b.connection.reason]).toEqual([expect.any(String), undefined]);
  expect(warnings).toEqual([{ child: "a", poolSize: 3 }]);
  await a.connection.gone();
  expect(caller.slot).toBeDefined();
});

test("a keep-alive connection stays while a busy connection may still become idle", async () => {
  const { idle, wait } = setUp();
  const [kept, plain] = [await idle("kept", keepAlive), await idle("plain")];
  plain.slot.busy();
  wait();
  expect(kept.connection.reason).toBeUndefined();

  plain.slot.idle();
  expect([kept.connection.reason, plain.connection.reason]).toEqual([undefined, expect.any(String)]);
});

test("a busy keep-alive connection is evicted for a waiting caller once it is idle", async () => {
  const { idle, wait } = setUp({ poolSize: 1 });
  const { slot, connection } = await idle("a", keepAlive);
  slot.busy();
  const caller = wait();
  expect(connection.reason).toBeUndefined();
  slot.idle();
  await connection.gone();
  expect(caller.slot).toBeDefined();
});

test("a keep-alive connection is evicted for the first of two callers only, because the new connection may end itself", async () => {
  const { idle, wait } = setUp();
  const [a, b] = [await idle("a", keepAlive), await idle("b", keepAlive)];
  const [first, second] = [wait(), wait()];
  const ended = () => [a, b].map(({ connection }) => connection.reason !== undefined);
  expect(ended()).toEqual([true, false]);
  await a.connection.gone();
  const plain = new Connection("plain", { mode: "default" });
  first.slot?.occupy(plain);
  expect(ended()).toEqual([true, false]);

  first.slot?.idle();
  await plain.gone();
  expect(second.slot).toBeDefined();
  expect(ended()).toEqual([true, false]);
});

test("a keep-alive connection is not evicted for a caller that gets a reserve slot in time", async () => {
  const { idle, wait, advance } = setUp({ poolSize: 1, resPoolSize: 1 });
  const { connection } = await idle("a", keepAlive);
  const patient = wait();
  await advance(5_000);
  expect(patient.slot).toBeDefined();
  expect(connection.reason).toBeUndefined();

  patient.slot?.free();
  wait(4_999);
  expect(connection.reason).toBeDefined();
});

test("configure() applies new limits to idle connections, waiting callers and reserve slots", async () => {
  const { pool, idle, wait, advance } = setUp({ poolSize: 3 });
  const all = [await idle("a"), await idle("b"), await idle("c", keepAlive)];
  pool.configure({ ...defaults, poolSize: 1 });
  expect(all.map(({ connection }) => connection.reason !== undefined)).toEqual([true, true, false]);
  for (const { connection } of all.slice(0, 2)) await connection.gone();

  all[2]?.slot.busy();
  const [first, second] = [wait(), wait()];
  pool.configure({ ...defaults, poolSize: 2 });
  await settled();
  expect([first.slot !== undefined, second.slot !== undefined]).toEqual([true, false]);
  await advance(4_000);
  pool.configure({ ...defaults, poolSize: 2, resPoolSize: 1, resPoolTimeout: 4_500 });
  await advance(499);
  expect(second.slot).toBeUndefined();
  await advance(1);
  expect(second.slot).toBeDefined();
});

test("when a caller with a coming reserve slot cancels, a keep-alive connection is evicted for the next caller", async () => {
  const { idle, wait } = setUp({ poolSize: 1, resPoolSize: 1 });
  const { connection } = await idle("a", keepAlive);
  const giveUp = new AbortController();
  wait(30_000, giveUp.signal);
  wait(1_000);
  expect(connection.reason).toBeUndefined();
  giveUp.abort();
  expect(connection.reason).toBeDefined();
});

test("the pool removes its listener from the caller's signal once the caller has a slot", async () => {
  const { pool, wait } = setUp({ poolSize: 1 });
  const { signal } = new AbortController();
  const held = await pool.acquire(0, signal);
  const caller = wait(30_000, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  held.free();
  await settled();
  expect(caller.slot).toBeDefined();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("close() rejects all waiting callers and stops all timers", async () => {
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

test("a closed pool ends no connection by itself, and still counts its slots", async () => {
  const { pool, idle } = setUp({ poolSize: 3 });
  const [a, b] = [await idle("a"), await idle("b")];
  const slot = await pool.acquire(0);
  const brief = new Connection("brief", { mode: "ephemeral" });
  slot.occupy(brief);
  pool.close();
  pool.configure({ ...defaults, poolSize: 1 });
  slot.idle();
  expect([a.connection.reason, b.connection.reason, brief.reason]).toEqual([undefined, undefined, undefined]);

  a.slot.free();
  slot.free();
  expect(pool.stats).toEqual({ slots: 1, idle: 1, waiting: 0 });
});
