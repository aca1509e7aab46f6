/** For layers that change what a caller hears of a task before the call ends. */
import type { Call, TaskRequest } from "../kernel/call.ts";

/** The task of the call, with these members of its request changed, if its caller prefers a task. */
export function withTaskRequest(
  task: Call["task"],
  change: (asked: TaskRequest) => Pick<TaskRequest, "created" | "changed">,
): Call["task"] {
  const asked = task?.request;
  if (!task || !asked) return task;
  const { terms } = asked;
  return { ...task, request: { terms, declined: () => asked.declined(), ...change(asked) } };
}
