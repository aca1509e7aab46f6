import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Origin } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { ANONYMOUS, PERSONAL, type Principal } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, toRaw } from "../../kernel/raw.ts";
import { Seal } from "../../kernel/seal.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { legacyState } from "./legacy-form.ts";
import type { Task } from "./task.ts";
import { type TaskLimits, Tasks } from "./tasks.ts";

const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody is here")) };
const token: Principal = { id: "token 1", kind: "token", roles: [], groups: [] };

function client(session: string, more: Partial<Origin> = {}): Origin {
  return { endpoint: PERSONAL, principal: ANONYMOUS, session, capabilities: EMPTY_OBJECT, uplink, ...more };
}

class World {
  readonly clock = new ManualClock();
  readonly tasks: Tasks;

  constructor(limits?: TaskLimits) {
    const seal = new Seal(randomBytes(32), "tasks");
    this.tasks = new Tasks({ clock: this.clock, seal, time: () => "2026-01-01T00:00:00Z" }, limits);
  }

  begin(origin: Origin, ttl?: number): { task: Task; signal: CallSignal } {
    const signal = new CallSignal();
    return { task: this.tasks.begin(origin, { signal, ttl, onChange: () => {} }), signal };
  }
}

const status = (task: Task): unknown => (fromRaw(legacyState(task)) as { status: unknown }).status;

test("a task is found by who it belongs to, and by nobody else", () => {
  const world = new World();
  const { tasks } = world;
  const begin = (origin: Origin): { task: Task } => world.begin(origin);
  const [anna, bob] = [client("anna"), client("bob")];
  const { task } = begin(anna);
  expect(tasks.find(anna, task.id)).toBe(task);
  expect(tasks.find(bob, task.id)).toBeUndefined();
  expect(tasks.find(anna, `${task.id.slice(0, -1)}x`)).toBeUndefined();
  expect([tasks.of(anna), tasks.of(bob)]).toEqual([[task], []]);

  // Who is known is the same in every session, on the same endpoint.
  const { task: hers } = begin(client("one", { principal: token }));
  expect(tasks.find(client("two", { principal: token }), hers.id)).toBe(hers);
  expect(tasks.find(client("two", { principal: token, endpoint: "other" }), hers.id)).toBeUndefined();
  expect(tasks.find(client("two", { principal: { ...token, id: "token 2" } }), hers.id)).toBeUndefined();
  // Without a session or a credential the id is all there is.
  const stranger = { sessionless: true, unlisted: true };
  const { task: theirs } = begin(client("1", stranger));
  expect(tasks.find(client("2", stranger), theirs.id)).toBe(theirs);
  expect(tasks.of(client("2", stranger))).toEqual([]);
});

test("what is not fetched goes when its time is up, and what still runs is cancelled", () => {
  const world = new World();
  const anna = client("anna");
  const { task: done } = world.begin(anna, 60_000);
  const { task: running, signal } = world.begin(anna, 60_000);
  const { task: longer } = world.begin(anna);
  done.end({ result: toRaw({}) });
  world.clock.advance(59_000);
  expect(world.tasks.of(anna)).toEqual([done, running, longer]);
  world.clock.advance(20_000);
  expect(world.tasks.of(anna)).toEqual([longer]);
  expect([status(done), status(running), signal.aborted]).toEqual(["completed", "cancelled", true]);
});

test("a session takes its own tasks along, a stop all of them", () => {
  const world = new World();
  const all = [client("anna"), client("bob"), client("anna", { principal: token })].map((origin) =>
    world.begin(origin),
  );
  world.tasks.forget("anna");
  expect(all.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  world.tasks.close();
  expect(all.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
});

test("there are so many at most: what has ended makes room, what runs does not", () => {
  const world = new World({ each: 2, all: 3, bytes: 1_000 });
  const [anna, bob] = [client("anna"), client("bob")];
  const { task: first } = world.begin(anna);
  const { task: second } = world.begin(anna);
  expect(() => world.begin(anna)).toThrow("Too many tasks");
  second.end({ result: toRaw({}) });
  const { task: third } = world.begin(anna);
  expect(world.tasks.of(anna)).toEqual([first, third]);
  const { task: his } = world.begin(bob);
  expect(() => world.begin(bob)).toThrow("Too many tasks");
  his.end("cancelled");
  world.begin(bob);
  expect(world.tasks.find(bob, his.id)).toBeUndefined();
  // The oldest results go first when they are too large together.
  first.end({ result: toRaw("x".repeat(600)) });
  expect(world.tasks.find(anna, first.id)).toBe(first);
  third.end({ result: toRaw("x".repeat(600)) });
  expect(world.tasks.of(anna)).toEqual([third]);
});
