/** Whether a call may be cached or made twice: only if the tool declares that it changes nothing. */
import type { Call } from "../kernel/call.ts";

export function isRepeatable({ method, repeat, facts, task }: Call): boolean {
  const { readOnlyHint, idempotentHint } = facts?.annotations ?? {};
  return (
    method === "tools/call" &&
    repeat === "safe" &&
    readOnlyHint === true &&
    idempotentHint !== false &&
    // A task has a state that belongs to one caller.
    task?.request === undefined
  );
}
