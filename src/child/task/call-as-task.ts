/**
 * Makes a tool call as a task at a child of the session-based era (2025-11-25): creates the task, follows it
 * and fetches its result.
 */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import type { Peer } from "../../rpc/peer.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { member, members, withMember } from "../../rpc/slice.ts";
import { readTaskState, withoutRelatedTask } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { sendCall } from "../dialect.ts";
import { ChildTask } from "./child-task.ts";

/** Whether a child with these capabilities can run tool calls as tasks. */
export function runsTasks(capabilities: Raw): boolean {
  let raw: Raw | undefined = capabilities;
  for (const key of ["tasks", "requests", "tools", "call"]) raw = raw && member(raw, key);
  return raw !== undefined;
}

/** Whether the call should be a task if the child can run one. */
export function isWanted({ task }: Claim): boolean {
  return task?.support === "required" || (task?.support === "optional" && task.request !== undefined);
}

export async function callAsTask(
  { peer, clock }: { readonly peer: Peer; readonly clock: Clock },
  claim: Claim,
  params: Raw,
  signal: Signal,
): Promise<Raw> {
  const taskRequest = claim.task?.request;
  const asked = withMember(params, "task", taskRequest?.terms ?? EMPTY_OBJECT);
  const answer = await sendCall(peer, claim, { method: "tools/call", params: asked, lasting: true }, signal);
  const requestId = claim.id as number;
  const [task, meta] = members(answer, ["task", "_meta"]);
  const state = readTaskState(task);
  try {
    if (!task || !state) {
      taskRequest?.declined();
      return answer;
    }
    const childTask = new ChildTask(
      {
        clock,
        claim,
        form: (state) => state,
        get: (taskId, stopped) => peer.request("tasks/get", toRaw({ taskId }), { signal: stopped }),
        cancel: (taskId) => void peer.request("tasks/cancel", toRaw({ taskId })).catch(() => {}),
      },
      state,
      task,
    );
    return await childTask.follow(
      () => resultOf(childTask, () => fetch(peer, claim, childTask)),
      signal,
      meta,
    );
  } finally {
    peer.endProgress(requestId);
  }
}

/**
 * The child answers this request when the task has ended. Until then the task may ask questions on its
 * stream.
 */
async function fetch(peer: Peer, claim: Claim, { id, stopped }: ChildTask): Promise<Raw> {
  const onSent = (request: number): void => {
    claim.id = request;
  };
  const result = await peer.request("tasks/result", toRaw({ taskId: id }), { signal: stopped, onSent });
  return withoutRelatedTask(result);
}

async function resultOf(childTask: ChildTask, fetchOnce: () => Promise<Raw>): Promise<Raw> {
  let fetching: Promise<Raw> | undefined;
  while (!childTask.ended) {
    if (childTask.status === "input_required" && !fetching) {
      fetching = fetchOnce();
      // A child may refuse this request while the task runs. It is sent again when the task has ended.
      fetching.catch(() => {
        fetching = undefined;
      });
    }
    const early = await Promise.race([childTask.next(), ...(fetching ? [answered(fetching)] : [])]);
    if (early) {
      // The caller must see the final state of the task.
      await childTask.refresh().catch(() => {});
      return early;
    }
  }
  return await (fetching ?? fetchOnce());
}

/** Does not settle if the child refuses the request. */
function answered(fetching: Promise<Raw>): Promise<Raw> {
  return new Promise((resolve, reject) => {
    fetching.then(resolve, (error: unknown) => {
      if (!(error instanceof RpcError)) reject(error as Error);
    });
  });
}
