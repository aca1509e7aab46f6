/** A tool call that a child of the stateless era runs as a task (the extension of 2026-07-28): its state holds its questions, and at last its result. */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import { fromEra2026 } from "../../rpc/era-2026/task-form.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, members } from "../../rpc/slice.ts";
import { readTaskState } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { TaskRun } from "../task/task-run.ts";
import { type ChildQuestion, type ChildQuestions, questionsIn } from "./question.ts";

export interface FollowParts {
  readonly clock: Clock;
  readonly claim: Claim;
  /** Of the caller. */
  readonly signal: Signal;
  readonly ask: (method: string, params: Raw, signal?: Signal) => Promise<Raw>;
  /** Puts questions to the caller. */
  readonly answers: (
    questions: ChildQuestions,
    signal: Signal,
  ) => Promise<readonly (readonly [string, Raw])[]>;
}

/** The result of the task that `created` is the answer of. */
export async function followTask(parts: FollowParts, created: Raw): Promise<Raw> {
  const { clock, claim, signal, ask } = parts;
  const state = readTaskState(fromEra2026(created));
  if (!state) throw RpcError.of(INTERNAL_ERROR, "The server created a task that cannot be read");
  const run = new TaskRun(
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
  return await run.follow(() => resultOf(run, parts), signal);
}

async function resultOf(run: TaskRun, { ask, answers }: FollowParts): Promise<Raw> {
  const asked = new Set<string>();
  // What created it says nothing beside the state.
  if (run.status !== "working") await run.refresh();
  for (;;) {
    const [requests, result, error] = members(run.answer, ["inputRequests", "result", "error"]);
    if (run.status === "completed" && result) return result;
    if (run.status === "failed")
      throw error && isObject(error)
        ? new RpcError(error)
        : RpcError.of(INTERNAL_ERROR, "The task failed at the server");
    if (run.ended) throw RpcError.of(INTERNAL_ERROR, `The task was ${run.status} by the server`);
    const fresh = newQuestions(requests, asked);
    if (run.status === "input_required" && fresh.length > 0) {
      const given = await answers({ asked: fresh, state: undefined }, run.stopped);
      const params = joinObject([
        ["taskId", toRaw(run.id)],
        ["inputResponses", joinObject(given)],
      ]);
      await ask("tasks/update", params, run.stopped);
    }
    await run.next();
  }
}

/** Those that were not put to anyone yet: the child repeats them until it has the answers. */
function newQuestions(requests: Raw = EMPTY_OBJECT, asked: Set<string>): readonly ChildQuestion[] {
  const fresh = questionsIn(requests).filter(({ name }) => !asked.has(name));
  for (const { name } of fresh) asked.add(name);
  return fresh;
}
