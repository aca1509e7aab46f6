import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { StoreError } from "../store/error.ts";
import type { ReplicaRow, Replicas } from "../store/replicas.ts";
import { BEAT_MS, REFUSING_DEAD_MS } from "./liveness.ts";
import { Members } from "./members.ts";

const nothing = (): void => {};

function rowOf(id: string): ReplicaRow {
  const silentMs = id === "dead" ? REFUSING_DEAD_MS : 0;
  const about = {};
  return {
    id,
    address: "a:1",
    publicUrl: undefined,
    version: "1",
    state: "serving",
    sinceMs: 0,
    silentMs,
    about,
  };
}

/** The rows of this replica and of a dead one. */
class Rows implements Pick<Replicas, "join" | "beat" | "remove"> {
  readonly #ids = new Set(["self", "dead"]);
  /** Runs before a row is removed. What it returns holds the answers to beats that were sent before. */
  beforeRemoval: () => Promise<void> = async () => {};
  #answers: Promise<void> = Promise.resolve();

  async join(): Promise<void> {}

  async beat(): Promise<readonly ReplicaRow[]> {
    const rows = [...this.#ids].map(rowOf);
    await Promise.resolve();
    await this.#answers;
    return rows;
  }

  async remove(id: string): Promise<boolean> {
    this.#answers = this.beforeRemoval();
    this.#ids.delete(id);
    return true;
  }
}

async function joined(clock: ManualClock, rows: Rows): Promise<Members> {
  const members = new Members({
    self: { id: "self", publicUrl: undefined, version: "1" },
    store: { onChange: () => nothing, onState: () => nothing, state: { up: true } },
    replicas: rows as unknown as Replicas,
    clock,
    log: silentLog,
    about: () => ({}),
    check: nothing,
    onRemoved: async () => {},
    othersReachStore: async () => true,
    onCame: nothing,
    onGone: nothing,
    onChange: nothing,
  });
  await members.join("a:2");
  return members;
}

test("a replica that was judged dead is not listed, though a beat was under way when its row was removed", async () => {
  const [clock, rows] = [new ManualClock(), new Rows()];
  const members = await joined(clock, rows);
  for (let beats = 0; beats < 3; beats++) {
    clock.advance(BEAT_MS);
    await members.refresh();
  }
  rows.beforeRemoval = async () => {
    clock.advance(BEAT_MS);
    await new Promise(setImmediate);
  };
  expect(members.of("dead")).toBeDefined();
  expect(await members.judge("dead", { refuses: true, since: clock.now() })).toBe("gone");
  expect(members.of("dead")).toBeUndefined();
});

test("the rows are as old as the last beat, and nobody's silence is known without the store", async () => {
  const [clock, rows] = [new ManualClock(), new Rows()];
  const members = await joined(clock, rows);
  expect(members.ageMs).toBe(0);
  clock.advance(BEAT_MS - 1);
  expect(members.ageMs).toBe(BEAT_MS - 1);
  rows.beat = () => Promise.reject(new StoreError("unavailable", "away"));
  clock.advance(2 * BEAT_MS);
  expect(members.ageMs).toBe(0);
});
