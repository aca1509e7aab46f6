/**
 * Asks the person at a client a yes-or-no question, as an elicitation without fields. Only `accept` means
 * yes.
 */
import { createHash } from "node:crypto";
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";

const ANSWER_TIMEOUT_MS = 600_000;

/** Whether the client supports elicitation with a form. Some clients can only show a URL. */
export function canBeAsked(capabilities: Raw): boolean {
  const { elicitation } = fromRaw(capabilities) as { elicitation?: Record<string, unknown> | null };
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return "form" in elicitation || !("url" in elicitation);
}

/**
 * Returns the action of the answer; undefined if there was no valid answer in time. Rejects if the call is
 * cancelled. `whole` is the complete question, if the message shows only a part of the arguments.
 */
export async function askPerson(
  { signal, uplink }: Pick<Call, "signal" | "uplink">,
  message: string,
  clock: Clock,
  whole = message,
): Promise<unknown> {
  const expired = new CallSignal();
  const giveUp = (): void => expired.abort(new Error("nobody is waiting for the answer"));
  const timer = clock.after(ANSWER_TIMEOUT_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  try {
    const question = toRaw({ message, requestedSchema: { type: "object", properties: {} } });
    const asking = { name: questionName(whole) };
    const result = await uplink
      .request("elicitation/create", question, expired, asking)
      .catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    return result && (fromRaw(result) as { action?: unknown } | null)?.action;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", giveUp);
  }
}

/**
 * A client may send its answer before it is asked again. The hash makes sure that the answer belongs to this
 * question.
 */
export function questionName(whole: string): string {
  return `consent-${createHash("sha256").update(whole).digest("hex").slice(0, 32)}`;
}
