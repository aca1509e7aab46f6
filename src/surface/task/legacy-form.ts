/** Tasks as clients of 2025-11-25 see them. */
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, members, withMember } from "../../rpc/slice.ts";
import { withRelatedTask } from "../../rpc/task.ts";
import type { ClientRequest } from "../surface.ts";
import type { Task } from "./task.ts";
import type { TaskForm } from "./task-call.ts";

export const TASK_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

export function legacyForm({ uplink, origin }: ClientRequest): TaskForm {
  let told = "";
  const tell = (task: Task): void => {
    const state = legacyState(task);
    const news = members(state, ["status", "statusMessage"]).join();
    if (news !== told) origin.uplink.notify("notifications/tasks/status", state);
    told = news;
  };
  return {
    wanted: true,
    created(task, meta) {
      const created = withMember(legacyState(task), "status", toRaw("working"));
      told = members(created, ["status", "statusMessage"]).join();
      return joinObject([
        ["task", created],
        ["_meta", meta],
      ]);
    },
    // Whether it declared that it can be asked is looked at where the question comes from.
    cannotAsk: () => undefined,
    question: (task, params) => withRelatedTask(params, task.id),
    notify: (task, method, params) => uplink.notify(method, withRelatedTask(params, task.id)),
    // Not before the client has the answer that names the task.
    changed: (task) => void setImmediate(tell, task),
  };
}

export function legacyState(task: Task): Raw {
  const { outcome } = task;
  if (!outcome) return task.state(task.phase);
  if (outcome === "cancelled") return task.state("cancelled");
  return task.state("error" in outcome || task.failed ? "failed" : "completed");
}

/** What the call would have been answered with. Throws where that is an error. */
export function legacyResult({ id, outcome }: Task): Raw {
  if (!outcome || outcome === "cancelled") throw RpcError.of(INTERNAL_ERROR, "The task was cancelled");
  if ("error" in outcome) throw outcome.error;
  return withRelatedTask(outcome.result, id);
}

export function legacyPage(tasks: readonly Task[], nextCursor: string | undefined): Raw {
  const states = tasks.map((task) => legacyState(task).toString()).join(",");
  const page = nextCursor === undefined ? EMPTY_OBJECT : toRaw({ nextCursor });
  return withMember(page, "tasks", asRaw(Buffer.from(`[${states}]`)));
}
