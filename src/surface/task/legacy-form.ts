/** Tasks in the form of 2025-11-25. */
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, members, withMember } from "../../rpc/slice.ts";
import { withRelatedTask } from "../../rpc/task.ts";
import type { ClientRequest } from "../surface.ts";
import type { Task } from "./task.ts";
import type { TaskForm } from "./task-call.ts";

export const TASK_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

export function legacyForm({ uplink, origin }: ClientRequest): TaskForm {
  let known = "";
  const notifyStatus = (task: Task): void => {
    const state = legacyState(task);
    const visible = members(state, ["status", "statusMessage"]).join();
    if (visible !== known) origin.uplink.notify("notifications/tasks/status", state);
    known = visible;
  };
  return {
    requested: true,
    created(task, meta) {
      const created = withMember(legacyState(task), "status", toRaw("working"));
      known = members(created, ["status", "statusMessage"]).join();
      return joinObject([
        ["task", created],
        ["_meta", meta],
      ]);
    },
    // The client's capabilities are checked where the child's question arrives.
    cannotAsk: () => undefined,
    question: (task, params) => withRelatedTask(params, task.id),
    notify: (task, method, params) => uplink.notify(method, withRelatedTask(params, task.id)),
    // Delayed, because the client must first get the answer that names the task.
    changed: (task) => void setImmediate(notifyStatus, task),
  };
}

export function legacyState(task: Task): Raw {
  const { outcome } = task;
  if (!outcome) return task.state(task.phase);
  if (outcome === "cancelled") return task.state("cancelled");
  return task.state("error" in outcome || task.failed ? "failed" : "completed");
}

/** Returns the result of the call. Throws if the call failed or was cancelled. */
export function legacyResult({ id, outcome }: Task): Raw {
  if (!outcome || outcome === "cancelled") throw RpcError.of(INTERNAL_ERROR, "The task was cancelled");
  if ("error" in outcome) throw outcome.error;
  return withRelatedTask(outcome.result, id);
}

/** `states`: JSON texts. */
export function legacyPage(states: readonly string[], nextCursor: string | undefined): Raw {
  const page = nextCursor === undefined ? EMPTY_OBJECT : toRaw({ nextCursor });
  return withMember(page, "tasks", asRaw(Buffer.from(`[${states.join(",")}]`)));
}
