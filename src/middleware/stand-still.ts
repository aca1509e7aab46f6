/** Time stands still for a call while somebody is asked on its behalf: what it had left before it has after. */
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";

/** Resolves with the call as it goes on. */
export async function standStill(call: Call, clock: Clock, asked: Promise<void>): Promise<Call> {
  const began = clock.now();
  const release = call.hold?.();
  try {
    await asked;
  } finally {
    release?.();
  }
  return { ...call, deadline: call.deadline + clock.now() - began };
}
