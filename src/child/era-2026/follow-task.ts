/**
 * Follows a tool call that a child of the stateless era runs as a task (extension of 2026-07-28). The task
 * state contains questions and, at the end, the result.
 */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import { fromEra2026 } from "../../rpc/era-2026/task-form.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, members } from "../../rpc/slice.ts";
import { readTaskState } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { ChildTask } from "../task/child-task.ts";
import { type ChildQuestion, type ChildQuestions, questionsIn } from "./question.ts";

export interface FollowParts {
  readonly clock: Clock;
  readonly claim: Claim;
  /** The signal of the caller. */
  readonly signal: Signal;
  readonly ask: (method: string, params: Raw, signal?: Signal) => Promise<Raw>;
  /** Sends questions to the caller and returns the answers by name. */
  readonly answers: (
    questions: ChildQuestions,
    signal: Signal,
  ) => Promise<readonly (readonly [string, Raw])[]>;
}

/** Returns the result of the task. `created` is the answer that created it. */
export async function followTask(parts: FollowParts, created: Raw): Promise<Raw> {
  const { clock, claim, signal, ask } = parts;
  const state = readTaskState(fromEra2026(created));
  if (!state) throw RpcError.of(INTERNAL_ERROR, "The server created a task that cannot be read");
  const task = new ChildTask(
    {
      clock,
      claim,
      form: fromEra2026,
      get: (taskId, stopped) => ask("tasks/get", toRaw({ taskId }), stopped),
      cancel: (taskId) => void ask("tasks/cancel", toRaw({ taskId })).catch(() => {}),
    },
    state,
    created,
  );
  return await task.follow(() => resultOf(task, parts), signal);
}

async function resultOf(task: ChildTask, { ask, answers }: FollowParts): Promise<Raw> {
  const asked = new Set<string>();
  // The answer that created the task contains only the state, so the rest must be fetched.
  if (task.status !== "working") await task.refresh();
  for (;;) {
    const [requests, result, error] = members(task.answer, ["inputRequests", "result", "error"]);
    if (task.status === "completed" && result) return result;
    if (task.status === "failed")
      throw error && isObject(error)
        ? new RpcError(error)
        : RpcError.of(INTERNAL_ERROR, "The task failed at the server");
    if (task.ended) throw RpcError.of(INTERNAL_ERROR, `The task was ${task.status} by the server`);
    const fresh = newQuestions(requests, asked);
    if (task.status === "input_required" && fresh.length > 0) {
      const given = await answers({ asked: fresh, state: undefined }, task.stopped);
      const params = joinObject([
        ["taskId", toRaw(task.id)],
        ["inputResponses", joinObject(given)],
      ]);
      await ask("tasks/update", params, task.stopped);
    }
    await task.next();
  }
}

/** Questions that were not asked yet. The child repeats a question until it has the answer. */
function newQuestions(requests: Raw = EMPTY_OBJECT, asked: Set<string>): readonly ChildQuestion[] {
  const fresh = questionsIn(requests).filter(({ name }) => !asked.has(name));
  for (const { name } of fresh) asked.add(name);
  return fresh;
}
