/** Tasks in the form of 2026-07-28: the state contains the open questions, and at the end the result. */
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { cannotAsk, lacking } from "../../rpc/era-2026/capability.ts";
import { TASKS } from "../../rpc/era-2026/names.ts";
import { toEra2026 } from "../../rpc/era-2026/task-form.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members, withMember } from "../../rpc/slice.ts";
import type { ClientRequest } from "../surface.ts";
import type { Task } from "./task.ts";
import type { TaskForm } from "./task-call.ts";

const NEEDED = { extensions: { [TASKS]: {} } };

export function knowsTasks(capabilities: Raw): boolean {
  return capabilities.includes(TASKS) && lacking(capabilities, NEEDED) === undefined;
}

export function requireTasks(capabilities: Raw): void {
  if (knowsTasks(capabilities)) return;
  throw RpcError.of(INVALID_PARAMS, "Missing required client capability", { requiredCapabilities: NEEDED });
}

export function era2026Form({ origin }: ClientRequest): TaskForm {
  return {
    requested: false,
    created: (task) => withMember(toEra2026(task.state("working")), "resultType", toRaw("task")),
    cannotAsk: (method, params) => cannotAsk(origin.capabilities, method, params),
    question: (_task, params) => params,
    // Progress and log messages belong to a request, and the request has been answered.
    notify: () => {},
    changed: () => {},
  };
}

export function era2026State(task: Task): Raw {
  const { outcome } = task;
  if (!outcome) {
    const state = toEra2026(task.state(task.phase));
    return task.questions.size > 0 ? withMember(state, "inputRequests", task.questions.requests()) : state;
  }
  if (outcome === "cancelled") return toEra2026(task.state("cancelled"));
  if ("error" in outcome) return withMember(toEra2026(task.state("failed")), "error", outcome.error.raw);
  return withMember(toEra2026(task.state("completed")), "result", outcome.result);
}

/** Notifies the client of each visible change of the task until the signal aborts. */
export function notifyEra2026(
  task: Task,
  { uplink, signal }: Pick<ClientRequest, "uplink" | "signal">,
): void {
  const visibleIn = (state: Raw): string =>
    members(state, ["status", "statusMessage", "inputRequests"]).join("\n");
  let known = visibleIn(era2026State(task));
  const stop = task.watch(() => {
    const state = era2026State(task);
    const visible = visibleIn(state);
    if (visible !== known) uplink.notify("notifications/tasks", state);
    known = visible;
  });
  signal.addEventListener("abort", stop);
}
