import { expect, test } from "vitest";
import type { Call, TaskRequest } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { readTaskState, type TaskState } from "../../rpc/task.ts";
import { closed } from "../breaker.ts";
import { type Claim, claimOf } from "../claim.ts";
import { ChildFailure } from "../link.ts";
import { ChildTask } from "./child-task.ts";

const state = (status: string, pollInterval = 500): Raw => toRaw({ taskId: "t", status, pollInterval });
const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody is here")) };

class World {
  readonly clock = new ManualClock();
  readonly signal = new CallSignal();
  readonly reported: unknown[] = [];
  readonly asked: number[] = [];
  cancelled = 0;
  answer: () => Promise<Raw> = () => Promise.resolve(state("working"));
  readonly claim: Claim;
  readonly task: ChildTask;

  constructor() {
    const taskRequest: TaskRequest = {
      terms: EMPTY_OBJECT,
      created: () => this.reported.push("created"),
      declined: () => this.reported.push("declined"),
      changed: (now) => this.reported.push((fromRaw(now) as { status: string }).status),
    };
    const origin = { ...LOCAL, session: "s", capabilities: EMPTY_OBJECT, uplink };
    const call: Pick<Call, "origin" | "uplink" | "repeat" | "task"> = {
      origin,
      uplink,
      repeat: "safe",
      task: { support: "optional", request: taskRequest },
    };
    this.claim = claimOf(call, closed);
    const parts = {
      clock: this.clock,
      claim: this.claim,
      form: (raw: Raw) => raw,
      get: () => {
        this.asked.push(this.clock.now());
        return this.answer();
      },
      cancel: () => void this.cancelled++,
    };
    const created = state("working");
    this.task = new ChildTask(parts, readTaskState(created) as TaskState, created);
  }

  /** Follows the task until it has ended, as a caller does. */
  follow(): Promise<Raw> {
    const work = async (): Promise<Raw> => {
      while (!this.task.ended) await this.task.next();
      return toRaw("result");
    };
    return this.task.follow(work, this.signal);
  }

  /** Advances the clock in small steps, so that pending promises settle in between. */
  async advance(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 50) {
      this.clock.advance(50);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  }
}

test("a task is polled at the interval that the child wants, until it has ended", async () => {
  const world = new World();
  const result = world.follow();
  await world.advance(1_200);
  expect(world.asked).toEqual([500, 1_000]);
  world.answer = () => Promise.resolve(state("completed"));
  await world.advance(500);
  expect(fromRaw(await result)).toBe("result");
  expect(world.reported).toEqual(["created", "working", "working", "completed"]);
  expect([world.cancelled, world.claim.running]).toEqual([0, undefined]);
  expect(world.clock.pending).toBe(0);
});

test("a refresh or a status notification of the child replaces the next poll", async () => {
  const world = new World();
  const result = world.follow();
  await world.advance(450);
  await world.task.refresh();
  await world.advance(450);
  expect(world.asked).toEqual([450]);
  world.task.update(toRaw({ taskId: "another", status: "completed" }));
  world.task.update(state("completed"));
  expect(fromRaw(await result)).toBe("result");
  expect(world.asked).toEqual([450]);
});

test("the call of a task is never sent again, even if its connection or session is lost", async () => {
  const world = new World();
  const lost = world.follow();
  expect(world.claim.repeat).toBe("unsafe");
  world.task.stop(new ChildFailure("stdio-exit", "it exited"));
  await expect(lost).rejects.toThrow("it exited");

  const other = new World();
  other.answer = () => Promise.reject(new ChildFailure("other", "forgotten", { sessionLost: true }));
  const forgotten = other.follow();
  const failure = forgotten.catch((error: ChildFailure) => error.sessionLost);
  await other.advance(600);
  expect(await failure).toBe(false);
});

test("a poll lost on the network does not end the task, but the error of a child that no longer knows it does", async () => {
  const world = new World();
  const result = world.follow();
  const said = result.catch((error: Error) => error.message);
  world.answer = () => Promise.reject(new ChildFailure("offline", "reset"));
  await world.advance(1_100);
  expect(world.asked).toHaveLength(2);
  world.answer = () => Promise.reject(RpcError.of(-32602, "Task not found"));
  await world.advance(500);
  expect(await said).toBe("The server no longer knows the task it was running: Task not found");
  expect(world.cancelled).toBe(0);
});

test("a cancelled call cancels its task at the child once", async () => {
  const world = new World();
  const result = world.follow();
  world.signal.abort(new Error("given up"));
  await expect(result).rejects.toThrow("given up");
  await world.advance(2_000);
  expect([world.cancelled, world.asked]).toEqual([1, []]);
});
