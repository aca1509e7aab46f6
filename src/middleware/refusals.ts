/** The errors with which layers refuse. A tool that is hidden from the caller gets the same error as a tool that does not exist. */
import type { Call } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { qualifiedName } from "../kernel/tool-facts.ts";

/** Does not contain the name of the tool: it may be hidden from the caller. */
export function toolNotFound(): MetaMcpError {
  return new MetaMcpError("tool_not_found", "No tool of that name is available here.");
}

export function forbidden(call: Call, reason: string): MetaMcpError {
  return new MetaMcpError("forbidden", reason, whereOf(call));
}

/** Refusals by limits. Other limits that counted the same call undo that. */
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

/** `server:tool`, as in rules. */
export function toolOf({ facts, tool }: Call): string {
  return facts ? qualifiedName(facts) : (tool ?? "");
}
