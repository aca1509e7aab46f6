/** A tool call that a child of the session-based era runs as a task (2025-11-25): created, followed, and its result fetched. */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import type { Peer } from "../../rpc/peer.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { member, members, withMember } from "../../rpc/slice.ts";
import { readTaskState, withoutRelatedTask } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { carry } from "../dialect.ts";
import { TaskRun } from "./task-run.ts";

/** Whether a child that declares these can be asked to run tools as tasks. */
export function runsTasks(capabilities: Raw): boolean {
  let raw: Raw | undefined = capabilities;
  for (const key of ["tasks", "requests", "tools", "call"]) raw = raw && member(raw, key);
  return raw !== undefined;
}

/** Whether this call is to be one, at a child that can. */
export function isWanted({ task }: Claim): boolean {
  return task?.support === "required" || (task?.support === "optional" && task.wish !== undefined);
}

export async function callAsTask(
  { peer, clock }: { readonly peer: Peer; readonly clock: Clock },
  claim: Claim,
  params: Raw,
  signal: Signal,
): Promise<Raw> {
  const wish = claim.task?.wish;
  const asked = withMember(params, "task", wish?.terms ?? EMPTY_OBJECT);
  const answer = await carry(peer, claim, { method: "tools/call", params: asked, lasting: true }, signal);
  const created = claim.id as number;
  const [task, meta] = members(answer, ["task", "_meta"]);
  const state = readTaskState(task);
  try {
    if (!task || !state) {
      wish?.declined();
      return answer;
    }
    const run = new TaskRun(
      {
        clock,
        claim,
        form: (told) => told,
        get: (taskId, stopped) => peer.request("tasks/get", toRaw({ taskId }), { signal: stopped }),
        cancel: (taskId) => void peer.request("tasks/cancel", toRaw({ taskId })).catch(() => {}),
      },
      state,
      task,
    );
    return await run.follow(() => resultOf(run, () => fetch(peer, claim, run)), signal, meta);
  } finally {
    peer.endProgress(created);
  }
}

/** A task that needs input asks on the stream of this request; one that has ended answers it. */
async function fetch(peer: Peer, claim: Claim, { id, stopped }: TaskRun): Promise<Raw> {
  const onSent = (request: number): void => {
    claim.id = request;
  };
  const result = await peer.request("tasks/result", toRaw({ taskId: id }), { signal: stopped, onSent });
  return withoutRelatedTask(result);
}

async function resultOf(run: TaskRun, fetchOnce: () => Promise<Raw>): Promise<Raw> {
  let fetching: Promise<Raw> | undefined;
  while (!run.ended) {
    if (run.status === "input_required" && !fetching) {
      fetching = fetchOnce();
      // A child may refuse this while the task still runs: it is asked again when it has ended.
      fetching.catch(() => {
        fetching = undefined;
      });
    }
    const early = await Promise.race([run.next(), ...(fetching ? [answered(fetching)] : [])]);
    if (early) {
      // So that the last that is known of it is how it ended.
      await run.refresh().catch(() => {});
      return early;
    }
  }
  return await (fetching ?? fetchOnce());
}

/** Never settles for what a child refused. */
function answered(fetching: Promise<Raw>): Promise<Raw> {
  return new Promise((resolve, reject) => {
    fetching.then(resolve, (error: unknown) => {
      if (!(error instanceof RpcError)) reject(error as Error);
    });
  });
}
