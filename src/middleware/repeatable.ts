/** Whether a call may be answered from memory or made twice: only where the tool says that it changes nothing. */
import type { Call } from "../kernel/call.ts";

export function isRepeatable({ method, repeat, facts, task }: Call): boolean {
  const { readOnlyHint, idempotentHint } = facts?.annotations ?? {};
  return (
    method === "tools/call" &&
    repeat === "safe" &&
    readOnlyHint === true &&
    idempotentHint !== false &&
    // A task has a state of its own, which is one caller's.
    task?.wish === undefined
  );
}
