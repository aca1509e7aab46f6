/** How layers refuse. What does not exist for the caller is said as what does not exist at all. */
import type { Call } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { placeOf } from "../kernel/tool-facts.ts";

/** Tells nothing of the tool: the caller named it. */
export function notThere(): MetaMcpError {
  return new MetaMcpError("tool_not_found", "No tool of that name is available here.");
}

export function forbidden(call: Call, reason: string): MetaMcpError {
  return new MetaMcpError("forbidden", reason, whereOf(call));
}

/** What limits here refused: whoever took from another one for the same call gives it back. */
const overLimit = new WeakSet<MetaMcpError>();

export function isOverLimit(error: unknown): boolean {
  return MetaMcpError.is(error) && overLimit.has(error);
}

export function tooMany(call: Call, waitMs: number, what = "Too many calls"): MetaMcpError {
  const retryAfterMs = Math.max(1, Math.ceil(waitMs));
  const refusal = new MetaMcpError("rate_limited", `${what}: nothing was done.`, {
    ...whereOf(call),
    retryAfterMs,
  });
  overLimit.add(refusal);
  return refusal;
}

function whereOf({ facts }: Call): { readonly server?: string } {
  return facts ? { server: facts.server } : {};
}

/** In words for people, as rules name it. */
export function toolOf({ facts, tool }: Call): string {
  return facts ? placeOf(facts) : (tool ?? "");
}
