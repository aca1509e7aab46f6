/** Tasks as clients of 2026-07-28 see them: the state holds the questions, and at last the result. */
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
    wanted: false,
    created: (task) => withMember(toEra2026(task.state("working")), "resultType", toRaw("task")),
    cannotAsk: (method, params) => cannotAsk(origin.capabilities, method, params),
    question: (_task, params) => params,
    // Progress and log messages belong to requests, and that one is answered.
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

/** Tells the client how the task stands, now that it has something new to tell, until nobody is listening. */
export function tellInEra2026(
  task: Task,
  { uplink, signal }: Pick<ClientRequest, "uplink" | "signal">,
): void {
  const newsOf = (state: Raw): string =>
    members(state, ["status", "statusMessage", "inputRequests"]).join("\n");
  let told = newsOf(era2026State(task));
  const stop = task.watch(() => {
    const state = era2026State(task);
    const news = newsOf(state);
    if (news !== told) uplink.notify("notifications/tasks", state);
    told = news;
  });
  signal.addEventListener("abort", stop);
}
