/** Puts a question without fields to the person at a client: accept is yes. Nobody who cannot be asked has said yes. */
import { createHash } from "node:crypto";
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";

/** Nobody is waited for longer than this. */
const PATIENCE_MS = 600_000;

/** A form; a client that can only show web addresses has no use for it. */
export function canBeAsked(capabilities: Raw): boolean {
  const { elicitation } = fromRaw(capabilities) as { elicitation?: Record<string, unknown> | null };
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return "form" in elicitation || !("url" in elicitation);
}

/**
 * What was answered; undefined where there was no answer in time, or none that is one. Rejects when the call is given up.
 * `whole`: all that is asked about, where the message shows a part of it.
 */
export async function askPerson(
  { signal, uplink }: Pick<Call, "signal" | "uplink">,
  message: string,
  clock: Clock,
  whole = message,
): Promise<unknown> {
  const patience = new CallSignal();
  const giveUp = (): void => patience.abort(new Error("nobody is waiting for the answer"));
  const timer = clock.after(PATIENCE_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  try {
    const question = toRaw({ message, requestedSchema: { type: "object", properties: {} } });
    const asking = { name: questionName(whole) };
    const result = await uplink
      .request("elicitation/create", question, patience, asking)
      .catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    return result && (fromRaw(result) as { action?: unknown } | null)?.action;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", giveUp);
  }
}

/** Clients may give answers before they are asked again: a yes to one thing must never be taken for one to another. */
export function questionName(whole: string): string {
  return `consent-${createHash("sha256").update(whole).digest("hex").slice(0, 32)}`;
}
