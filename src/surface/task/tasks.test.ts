import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Origin } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { ANONYMOUS, PERSONAL, type Principal, strangerFrom } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, toRaw } from "../../kernel/raw.ts";
import { type IdSource, ReplicaIds } from "../../kernel/replica-ids.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { legacyState } from "./legacy-form.ts";
import type { Task } from "./task.ts";
import { type TaskLimits, Tasks } from "./tasks.ts";

const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody is here")) };
const token: Principal = { id: "token 1", kind: "token", roles: [], groups: [] };

function client(session: string, more: Partial<Origin> = {}): Origin {
  return { endpoint: PERSONAL, principal: ANONYMOUS, session, capabilities: EMPTY_OBJECT, uplink, ...more };
}

class Fixture {
  readonly clock = new ManualClock();
  readonly tasks: Tasks;

  constructor(limits?: TaskLimits, source: IdSource = { secret: randomBytes(32) }) {
    const ids = new ReplicaIds(source, "tasks");
    this.tasks = new Tasks({ clock: this.clock, ids, time: () => "2026-01-01T00:00:00Z" }, limits);
  }

  begin(origin: Origin, ttl?: number): { task: Task; signal: CallSignal } {
    const signal = new CallSignal();
    return { task: this.tasks.begin(origin, { signal, ttl, onChange: () => {} }), signal };
  }
}

const status = (task: Task): unknown => (fromRaw(legacyState(task)) as { status: unknown }).status;

test("a task can be found only by its owner", () => {
  const fixture = new Fixture();
  const { tasks } = fixture;
  const begin = (origin: Origin): { task: Task } => fixture.begin(origin);
  const [anna, bob] = [client("anna"), client("bob")];
  const { task } = begin(anna);
  expect(tasks.find(anna, task.id)).toBe(task);
  expect(tasks.find(bob, task.id)).toBeUndefined();
  expect(tasks.find(anna, `${task.id.slice(0, -1)}x`)).toBeUndefined();
  expect([tasks.of(anna), tasks.of(bob)]).toEqual([[task], []]);

  // A known principal owns its tasks in all its sessions at the same endpoint.
  const { task: hers } = begin(client("one", { principal: token }));
  expect(tasks.find(client("two", { principal: token }), hers.id)).toBe(hers);
  expect(tasks.find(client("two", { principal: token, endpoint: "other" }), hers.id)).toBeUndefined();
  expect(tasks.find(client("two", { principal: { ...token, id: "token 2" } }), hers.id)).toBeUndefined();
  // Without a session and a credential, the id alone gives access.
  const stranger = { sessionless: true, unlisted: true };
  const { task: theirs } = begin(client("1", stranger));
  expect(tasks.find(client("2", stranger), theirs.id)).toBe(theirs);
  expect(tasks.of(client("2", stranger))).toEqual([]);
});

test("another process with the secret knows which replica has a task, and tells only its owner", () => {
  const secret = randomBytes(32);
  const [one, two] = ["a1", "b2"].map((replica) => new Fixture(undefined, { secret, replica }));
  const owner = client("any", { principal: token });
  const { id } = (one as Fixture).begin(owner).task;
  const { tasks } = two as Fixture;
  expect([tasks.find(owner, id), tasks.replicaOf(owner, id)]).toEqual([undefined, "a1"]);
  expect(tasks.replicaOf(client("other"), id)).toBeUndefined();
  expect(one?.tasks.replicaOf(owner, id)).toBeUndefined();
});

test("a task is removed after its ttl, and cancelled if it still runs", () => {
  const fixture = new Fixture();
  const anna = client("anna");
  const { task: done } = fixture.begin(anna, 60_000);
  const { task: running, signal } = fixture.begin(anna, 60_000);
  const { task: longer } = fixture.begin(anna);
  done.end({ result: toRaw({}) });
  fixture.clock.advance(59_000);
  expect(fixture.tasks.of(anna)).toEqual([done, running, longer]);
  fixture.clock.advance(20_000);
  expect(fixture.tasks.of(anna)).toEqual([longer]);
  expect([status(done), status(running), signal.aborted]).toEqual(["completed", "cancelled", true]);
});

test("forget cancels the tasks of a session, and close cancels all tasks", () => {
  const fixture = new Fixture();
  const all = [client("anna"), client("bob"), client("anna", { principal: token })].map((origin) =>
    fixture.begin(origin),
  );
  fixture.tasks.forget("anna");
  expect(all.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  fixture.tasks.close();
  expect(all.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
});

test("beyond the limits the oldest ended tasks are removed, and running tasks are kept", () => {
  const fixture = new Fixture({ perOwner: 2, total: 3, bytes: 1_000 });
  const here = { principal: strangerFrom("192.0.2.1") };
  const [anna, bob] = [client("anna", here), client("bob", { principal: strangerFrom("192.0.2.2") })];
  const { task: first } = fixture.begin(anna);
  const { task: second } = fixture.begin(anna);
  expect(() => fixture.begin(anna)).toThrow("Too many tasks");
  // Another session does not help.
  expect(() => fixture.begin(client("anna again", here))).toThrow("Too many tasks");
  second.end({ result: toRaw({}) });
  const { task: third } = fixture.begin(anna);
  expect(fixture.tasks.of(anna)).toEqual([first, third]);
  const { task: his } = fixture.begin(bob);
  expect(() => fixture.begin(bob)).toThrow("Too many tasks");
  his.end("cancelled");
  fixture.begin(bob);
  expect(fixture.tasks.find(bob, his.id)).toBeUndefined();
  // The oldest results are removed first if all results together are too large.
  first.end({ result: toRaw("x".repeat(600)) });
  expect(fixture.tasks.find(anna, first.id)).toBe(first);
  third.end({ result: toRaw("x".repeat(600)) });
  expect(fixture.tasks.of(anna)).toEqual([third]);
});
