import fc from "fast-check";
import { expect, test } from "vitest";
import type { Lifecycle, PoolOptions } from "../config/spec.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { Pool } from "./pool.ts";
import type { Pooled, PoolSlot } from "./pool-slot.ts";

/** All times are multiples of it, so that nothing happens between two checks of the pool. */
const TICK = 5_000;

type Phase = "connecting" | "busy" | "idle" | "ending" | "gone";

interface Caller {
  readonly since: number;
  readonly until: number;
  readonly giveUp: AbortController;
  granted: boolean;
  over: boolean;
}

/** How a connection ends: later on command, with an error, or by freeing its slot at once. */
type Ending = "later" | "badly" | "at once";

class Held implements Pooled {
  readonly label = "held";
  readonly slot: PoolSlot;
  readonly world: World;
  lifecycle: Lifecycle = { mode: "default" };
  ending: Ending = "later";
  phase: Phase = "connecting";
  idleSince = 0;
  idleTurn = 0;
  finish = (): void => {};

  constructor(slot: PoolSlot, world: World) {
    this.slot = slot;
    this.world = world;
  }

  end(reason: string): Promise<void> {
    this.world.judge(this, reason);
    this.phase = "ending";
    if (this.ending === "at once") this.free();
    return new Promise((resolve, reject) => {
      this.finish = () => {
        this.phase = "gone";
        if (this.ending === "badly") reject(new Error("badly"));
        else resolve();
      };
    });
  }

  free(): void {
    this.phase = "gone";
    this.slot.free();
  }

  get kept(): boolean {
    return this.lifecycle.mode === "keep-alive";
  }
}

/** A model of the pool: states its rules independently and checks them from outside. */
class World {
  readonly clock = new ManualClock();
  readonly pool: Pool;
  options: PoolOptions;
  all: Held[] = [];
  callers: Caller[] = [];
  turn = 0;
  violations: string[] = [];

  constructor(options: PoolOptions) {
    this.options = options;
    this.pool = new Pool(options, this.clock, silentLog);
  }

  of(...phases: Phase[]): Held[] {
    return this.all.filter(({ phase }) => phases.includes(phase));
  }

  get waiting(): Caller[] {
    return this.callers.filter((caller) => !caller.over);
  }

  must(holds: boolean, rule: string): void {
    if (!holds) this.violations.push(rule);
  }

  acquire(waitMs: number): void {
    const since = this.clock.now();
    const caller = {
      since,
      until: since + waitMs,
      giveUp: new AbortController(),
      granted: false,
      over: false,
    };
    const before = this.waiting;
    this.callers.push(caller);
    this.pool.acquire(waitMs, caller.giveUp.signal).then(
      (slot) => {
        this.must(
          before.every(({ over }) => over),
          "first come, first served",
        );
        const reserved = this.of("connecting", "busy", "idle", "ending").length >= this.options.poolSize;
        const waited = this.clock.now() - since >= this.options.resPoolTimeout;
        this.must(!reserved || waited, "only a caller that waited long enough gets a reserve slot");
        Object.assign(caller, { granted: true, over: true });
        this.all.push(new Held(slot, this));
        const { poolSize, resPoolSize } = this.options;
        const used = this.of("connecting", "busy", "idle", "ending").length;
        this.must(used <= poolSize + resPoolSize, "no more slots than poolSize + resPoolSize");
      },
      () => {
        const inTime = !caller.giveUp.signal.aborted && this.clock.now() < caller.until;
        this.must(!inTime, "no caller is rejected before its timeout");
        caller.over = true;
      },
    );
  }

  /** Checks that the pool may end this connection now. */
  judge(held: Held, reason: string): void {
    const { poolSize, minPoolSize, idleTimeoutMs } = this.options;
    const { slots, waiting } = this.pool.stats;
    const unseen = slots - this.of("connecting", "busy", "idle", "ending").length;
    const ending = this.of("ending").length;
    const live = slots - ending;
    this.must(held.phase === "idle", `only idle connections are ended, once (${held.phase})`);
    if (held.lifecycle.mode === "ephemeral") return;

    if (reason.includes("too long")) {
      const limit = held.lifecycle.idleTimeoutMs ?? (held.kept ? Number.POSITIVE_INFINITY : idleTimeoutMs);
      this.must(this.clock.now() - held.idleSince > limit, "the sweep ends only connections over the limit");
      this.must(this.clock.now() % 60_000 === 0, "the sweep runs each minute");
      this.must(live > minPoolSize, "the sweep keeps the minimum");
      return;
    }

    this.must(live + waiting > poolSize, "no eviction without need, and one per caller");
    this.must(live > minPoolSize || minPoolSize >= poolSize, "eviction keeps the minimum");
    const rivals = this.of("idle").filter(
      (other) => other.kept === held.kept && other.idleTurn < held.idleTurn,
    );
    this.must(live > poolSize || rivals.length === 0, "the connection idle for longest is evicted first");
    if (!held.kept) return;
    const others =
      this.of("idle").filter((other) => !other.kept).length + this.mayBecomeFree().length + unseen;
    this.must(others === 0, "keep-alive is evicted only if no other slot can become free");
    this.must(
      live > poolSize || !this.reserveComes(),
      "keep-alive is not evicted if a reserve slot comes in time",
    );
  }

  mayBecomeFree(): Held[] {
    const live = this.of("connecting", "busy", "idle").length;
    const overfull = live > this.options.poolSize;
    return this.of("connecting", "ending", "busy").filter(
      (held) => held.phase !== "busy" || overfull || !held.kept,
    );
  }

  reserveComes(): boolean {
    const [first] = this.waiting;
    const { poolSize, resPoolSize, resPoolTimeout } = this.options;
    if (!first || this.pool.stats.slots >= poolSize + resPoolSize) return false;
    return first.since + resPoolTimeout <= first.until;
  }

  /** Checks what must hold whenever nothing is pending. */
  async check(): Promise<void> {
    this.clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    const { poolSize, resPoolSize, minPoolSize, resPoolTimeout } = this.options;
    const used = this.of("connecting", "busy", "idle", "ending").length;
    const idle = this.of("idle");
    const ending = this.of("ending").length;
    const live = used - ending;
    const [first] = this.waiting;
    const waiting = this.waiting.length;
    expect(this.pool.stats, "the pool counts all slots and callers").toEqual({
      slots: used,
      idle: idle.length,
      waiting,
    });

    this.must(!this.waiting.some(({ giveUp }) => giveUp.signal.aborted), "a cancelled caller does not wait");
    const plain = idle.some((held) => !held.kept);
    const short = live + waiting > poolSize;
    if (first) {
      const waited = this.clock.now() - first.since >= resPoolTimeout;
      this.must(used >= poolSize, "no caller waits while a slot is free");
      this.must(used >= poolSize + resPoolSize || !waited, "no caller waits that may have a reserve slot");
      this.must(this.clock.now() < first.until, "no caller waits beyond its timeout");
    }
    this.must(!plain || !short || (live <= minPoolSize && ending > 0), "idle is evicted for a caller");
    const stuck = short && idle.length > 0 && this.mayBecomeFree().length === 0;
    this.must(!stuck || this.reserveComes(), "keep-alive is evicted if no other slot can become free");
    this.must(!idle.some(({ lifecycle }) => lifecycle.mode === "ephemeral"), "ephemeral does not stay idle");
    expect(this.violations).toEqual([]);
  }

  configure(options: Partial<PoolOptions>): void {
    this.options = { ...this.options, ...options };
    this.pool.configure(this.options);
  }

  idle(held: Held): void {
    held.phase = "idle";
    held.idleSince = this.clock.now();
    held.idleTurn = this.turn++;
    held.slot.idle();
  }

  /** Ends all connections properly: then no caller may be left waiting, and no slot may be left over. */
  async unwind(): Promise<void> {
    this.configure({ resPoolSize: 0 });
    await this.check();
    const left = this.waiting;
    for (let round = 0; this.waiting.length > 0; round += 1) {
      expect(round, "every waiting caller gets a slot").toBeLessThan(100);
      for (const held of this.of("ending")) held.finish();
      for (const held of this.of("connecting")) held.free();
      for (const held of this.of("busy")) this.idle(held);
      await this.check();
    }
    expect(
      left.every(({ granted }) => granted),
      "every waiting caller gets a slot",
    ).toBe(true);
    for (const held of this.of("ending")) held.finish();
    for (const held of this.of("connecting", "busy", "idle")) held.free();
    await this.check();
    expect(this.pool.stats.slots).toBe(0);
    this.pool.close();
    expect(this.clock.pending).toBe(0);
  }
}

const lifecycle = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Lifecycle>({ mode: "default" }) },
  { weight: 4, arbitrary: fc.constant<Lifecycle>({ mode: "keep-alive" }) },
  { weight: 1, arbitrary: fc.constant<Lifecycle>({ mode: "keep-alive", idleTimeoutMs: 4 * TICK }) },
  { weight: 1, arbitrary: fc.constant<Lifecycle>({ mode: "default", idleTimeoutMs: 18 * TICK }) },
  { weight: 1, arbitrary: fc.constant<Lifecycle>({ mode: "ephemeral" }) },
);
const bounds = fc.record({
  poolSize: fc.integer({ min: 1, max: 4 }),
  resPoolSize: fc.integer({ min: 0, max: 2 }),
  minPoolSize: fc.integer({ min: 0, max: 4 }),
});
const which = fc.nat({ max: 20 });
const ending = fc.constantFrom<Ending>("later", "later", "badly", "at once");

const pick = <T>(from: readonly T[], index: number): T | undefined => from[index % Math.max(1, from.length)];

const to = <D extends string>(weight: number, name: D) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name), which }),
});
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("acquire" as const), waitTicks: fc.constantFrom(0, 1, 2, 20) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("occupy" as const), which, lifecycle, ending }) },
  to(8, "idle"),
  to(3, "busy"),
  to(5, "finish"),
  to(2, "free"),
  to(2, "abort"),
  to(2, "echo"),
  { weight: 1, arbitrary: fc.record({ do: fc.constant("configure" as const), bounds }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ticks: fc.constantFrom(1, 1, 1, 4, 13, 25) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case "acquire":
      world.acquire(step.waitTicks * TICK);
      break;
    case "occupy": {
      const held = pick(world.of("connecting"), step.which);
      if (held) Object.assign(held, { lifecycle: step.lifecycle, ending: step.ending, phase: "busy" });
      held?.slot.occupy(held);
      break;
    }
    case "idle": {
      const held = pick(world.of("busy"), step.which);
      if (held) world.idle(held);
      break;
    }
    case "busy": {
      const held = pick(world.of("idle"), step.which);
      if (held) held.phase = "busy";
      held?.slot.busy();
      break;
    }
    case "finish":
      pick(world.of("ending"), step.which)?.finish();
      break;
    case "free":
      pick(world.of("connecting", "busy", "idle", "ending"), step.which)?.free();
      break;
    case "abort":
      pick(world.waiting, step.which)?.giveUp.abort(new Error("gave up"));
      break;
    case "echo":
      pick(world.of("connecting", "idle", "ending", "gone"), step.which)?.slot.idle();
      pick(world.of("gone"), step.which)?.slot.free();
      break;
    case "configure":
      world.configure(step.bounds);
      break;
    case "advance":
      for (let tick = 0; tick < step.ticks; tick += 1) {
        world.clock.advance(TICK);
        await world.check();
      }
  }
  await world.check();
}

test("no sequence of events exceeds a limit, loses a slot, starves a caller or ends a connection that must stay", async () => {
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(step, { maxLength: 50, size: "max" }), async (options, steps) => {
      const rest = { resPoolTimeout: TICK, idleTimeoutMs: 6 * TICK, failureThreshold: 5, cooldownMs: 30_000 };
      const world = new World({ ...options, ...rest });
      for (const step of steps) await take(world, step);
      await world.unwind();
    }),
    { numRuns: 400, ...(process.env["METAMCP_SEED"] && { seed: Number(process.env["METAMCP_SEED"]) }) },
  );
});
