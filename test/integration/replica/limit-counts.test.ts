/** The counts of limits over replicas keep the contracts of those in one process, with few statements. */
import { expect, test } from "vitest";
import { systemClock } from "../../../src/engine/system-clock.ts";
import { type Clock, ManualClock } from "../../../src/kernel/clock.ts";
import { ConcurrencyLimiter } from "../../../src/kernel/concurrency-limiter.ts";
import type { Places, Rate } from "../../../src/kernel/counts.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { occupy, placesContract } from "../../../src/kernel/places.contract.ts";
import { pass, rateContract } from "../../../src/kernel/rate.contract.ts";
import { ReplicaCounts } from "../../../src/replica/limits/replica-counts.ts";
import type { LimitRows } from "../../../src/store/limits.ts";
import type { Store } from "../../../src/store/store.ts";
import { onPostgres } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

/** No other replica has called this one dead. */
const CERTAIN = { uncertain: () => false, certain: () => Promise.resolve() };

onPostgres("counts of replicas", () => {
  const database = shared(postgresDatabase);
  const statements: string[] = [];
  let places = 0;
  let names = 0;
  const ids: { readonly replica: string; readonly store: Store }[] = [];

  /** Counts of so many replicas, each with its own connections. */
  async function countsOf(replicas: number): Promise<readonly ReplicaCounts[]> {
    const all: ReplicaCounts[] = [];
    while (all.length < replicas) {
      const store = await database().open({ onStatement: (sql) => statements.push(sql) });
      const rows = store.limits as LimitRows;
      names += 1;
      const replica = `replica ${names}`;
      await store.replicas?.join({ id: replica, address: undefined, publicUrl: undefined, version: "1" });
      ids.push({ replica, store });
      all.push(
        new ReplicaCounts({
          store,
          rows,
          replica,
          clock: systemClock,
          log: silentLog,
          replicas: () => replicas,
          ...CERTAIN,
        }),
      );
    }
    return all;
  }

  const three = shared(() => countsOf(3));
  rateContract("three replicas", (terms) => {
    places += 1;
    return three().map((counts) => counts.rate(`limit ${places}`, terms));
  });

  placesContract("three replicas", (most) => {
    places += 1;
    return three().map((counts) => counts.places(`places ${places}`, { most: () => most }));
  });

  test("places of a dead replica come back with its row, and one that was called dead has none", async () => {
    const [one, two] = await countsOf(2);
    const [dead, living] = ids.slice(-2);
    const [first, second] = [one, two].map((counts) => counts?.places("of the dead", { most: () => 2 }));
    expect(await occupy(first as Places)).toBe(true);
    expect(await occupy(first as Places)).toBe(true);
    expect(await occupy(second as Places)).toBe(false);
    expect(await living?.store.replicas?.remove(dead?.replica ?? "", -1)).toBe(true);
    expect(await occupy(second as Places)).toBe(true);
    expect(await occupy(second as Places)).toBe(true);
    // It comes back: what it runs is known again, and nobody gets more.
    await dead?.store.replicas?.join({
      id: dead.replica,
      address: undefined,
      publicUrl: undefined,
      version: "1",
    });
    one?.lost();
    const rows = async () =>
      (await database().sql("SELECT held FROM metamcp_places")) as { held: Record<string, number> }[];
    await until(async () => (await rows()).some(({ held }) => held[dead?.replica ?? ""] === 2));
    second?.leave();
    // Only in the same turn the place is still there.
    await Promise.resolve();
    expect(await occupy(second as Places)).toBe(false);
    expect(await occupy(first as Places)).toBe(false);
    first?.leave();
    first?.leave();
    await until(() => occupy(second as Places));
  });

  test("a place that was free is not used by a replica that was stopped, while another one may have it", async () => {
    const store = await database().open();
    const rows = store.limits as LimitRows;
    const about = { address: undefined, publicUrl: undefined, version: "1" };
    for (const id of ["stopped", "heir"]) await store.replicas?.join({ id, ...about });
    let isStopped = false;
    // Who was stopped may get a request before its timers run.
    const clock: Clock = {
      now: () => systemClock.now(),
      after: (ms, run) => systemClock.after(ms, () => (isStopped ? undefined : run())),
    };
    const common = { store, rows, log: silentLog, replicas: () => 2 };
    const counts = new ReplicaCounts({
      ...common,
      replica: "stopped",
      clock,
      uncertain: () => isStopped,
      async certain() {
        isStopped = false;
        await store.replicas?.join({ id: "stopped", ...about });
        counts.lost();
      },
    });
    const places = counts.places("stopped", { most: () => 4 });
    expect(await occupy(places)).toBe(true);
    isStopped = true;
    places.leave();
    await store.replicas?.remove("stopped", -1);
    const others = new ReplicaCounts({ ...common, ...CERTAIN, replica: "heir", clock: systemClock });
    const heir = others.places("stopped", { most: () => 4 });
    for (let n = 0; n < 4; n++) expect(await occupy(heir)).toBe(true);
    expect(await occupy(places)).toBe(false);
    heir.leave();
    await until(() => occupy(places));
  });

  test("whoever waits keeps the count of its replica, so that there is one for each row", async () => {
    const [one, two] = three() as [ReplicaCounts, ReplicaCounts];
    const terms = { most: () => 1 };
    const [waiting, running] = [one.places("one for each", terms), two.places("one for each", terms)];
    expect(await occupy(running)).toBe(true);
    expect(await occupy(waiting)).toBe(false);
    expect(one.places("one for each", terms)).toBe(waiting);
    running.leave();
    for (const places of [waiting, waiting]) places.release?.();
    await until(() => {
      const now = one.places("one for each", terms);
      now.release?.();
      return now !== waiting;
    });
  });

  test("the terms of the last user hold", async () => {
    const [counts] = three() as [ReplicaCounts];
    expect(await occupy(counts.places("changed", { most: () => 1 }))).toBe(true);
    const places = counts.places("changed", { most: () => 3e9 });
    expect(await occupy(places)).toBe(true);
    for (let place = 0; place < 2; place += 1) places.leave();
  });

  test("of the sessions at the limit one ends for a new one", async () => {
    const [one, two] = three() as [ReplicaCounts, ReplicaCounts];
    const open: { owner: string; idleMs: number; busy: boolean; end(): void }[] = [];
    const limiterOf = (counts: ReplicaCounts) =>
      new ConcurrencyLimiter(() => ({ sessions: 4 }), undefined, { counts, place: "sessions" });
    const [limiter, other] = [limiterOf(one), limiterOf(two)];
    limiter.onFull(() => open);
    const begin = async (): Promise<boolean> => {
      await limiter.ready("sessions");
      if (!limiter.makeRoom("caller")) return false;
      limiter.enter("sessions");
      const session = {
        owner: "caller",
        idleMs: 100_000,
        busy: false,
        end() {
          open.splice(open.indexOf(session), 1);
          limiter.leave("sessions");
        },
      };
      open.push(session);
      return true;
    };
    await other.ready("sessions");
    other.enter("sessions");
    for (let session = 0; session < 4; session += 1) expect(await begin()).toBe(true);
    expect(open).toHaveLength(3);
  });

  /** The first replica, whose database is away while `state` says so. */
  function withOutages(clock: Clock = systemClock): {
    readonly counts: ReplicaCounts;
    readonly state: { up: boolean };
  } {
    const { store, replica } = ids[0] as (typeof ids)[number];
    const state = { up: true };
    const counts = new ReplicaCounts({
      store: { state } as Pick<Store, "state">,
      rows: store.limits as LimitRows,
      replica,
      clock,
      log: silentLog,
      replicas: () => 3,
      ...CERTAIN,
    });
    return { counts, state };
  }

  test("places that were left while the database was away go back afterwards", async () => {
    const clock = new ManualClock();
    const { counts, state } = withOutages(clock);
    const [left, other] = [counts, three()[1]].map((all) => all?.places("outage", { most: () => 1 }));
    expect(await occupy(left as Places)).toBe(true);
    clock.advance(1_000);
    state.up = false;
    left?.leave();
    clock.advance(1_000);
    state.up = true;
    counts.confirm();
    clock.advance(1_000);
    await until(() => occupy(other as Places));
  });

  test("a rate: what passed before counts while the database is away, and what passed then counts afterwards", async () => {
    const { counts, state } = withOutages();
    const terms = { burst: 9, intervalMs: 60_000 };
    const [here, there] = [counts, three()[1] as ReplicaCounts].map((all) => all.rate("outage", terms)) as [
      Rate,
      Rate,
    ];
    const passed = async (rate: Rate): Promise<number> => {
      let count = 0;
      while (count < 20 && (await pass(rate))) count += 1;
      return count;
    };
    expect(await pass(here)).toBeDefined();
    // A share of three, of which one is used. Going away again makes no new one.
    const alone: number[] = [];
    for (let outage = 0; outage < 3; outage += 1) {
      state.up = false;
      alone.push(await passed(here));
      state.up = true;
      counts.confirm();
    }
    expect(alone).toEqual([2, 0, 0]);
    expect(await pass(here)).toBeDefined();
    expect(await passed(there)).toBe(5);
  });

  test("required: nothing passes while the count is not known, whenever that became so", async () => {
    const { counts, state } = withOutages();
    const places = counts.places("required", { most: () => 10, required: true });
    const rate = counts.rate("required", { burst: 10, intervalMs: 1_000, required: true });
    expect(await occupy(places)).toBe(true);
    expect(await pass(rate)).toBeDefined();
    state.up = false;
    expect(places.full()).toBe(true);
    expect(rate.wait("")).toBeGreaterThan(0);
  });

  test("calls one after the other, far from the limit, need no statement each", async () => {
    const [counts] = three() as [ReplicaCounts];
    const far = counts.places("far places", { most: () => 100 });
    statements.length = 0;
    for (let call = 0; call < 2_000; call += 1) {
      expect(await occupy(far)).toBe(true);
      far.leave();
    }
    const sent = statements.filter((sql) => sql.includes("metamcp_places")).length;
    expect(sent).toBeLessThan(200);
  });

  const limitStatements = (): number => statements.filter((sql) => sql.includes("metamcp_rates")).length;

  test("a limit that is far from used up needs no statement per call", async () => {
    const clock = new ManualClock();
    const rate: Rate = withOutages(clock).counts.rate("far", { burst: 100_000, intervalMs: 10 });
    statements.length = 0;
    for (let call = 0; call < 3_000; call += 1) {
      expect(await pass(rate)).toBeDefined();
      if (call % 10 !== 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1);
    }
    // In 300 ms: blocks last 100 ms, and the first ones are smaller.
    expect(limitStatements()).toBeLessThan(10);
  });

  test("calls that wait share a statement, and refusals need few", async () => {
    const [counts] = three() as [ReplicaCounts];
    const rate = counts.rate("used up", { burst: 10, intervalMs: 60_000 });
    statements.length = 0;
    await Promise.all(Array.from({ length: 500 }, () => pass(rate)));
    // A second one may give back what the limit of the test before did not use.
    expect(limitStatements()).toBeLessThanOrEqual(2);
    const began = performance.now();
    for (let call = 0; call < 2_000; call += 1) expect(await pass(rate)).toBeUndefined();
    expect(limitStatements()).toBeLessThan((performance.now() - began) / 100 + 4);
  });
});
