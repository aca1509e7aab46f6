/**
 * The errors with which layers refuse. A tool that is hidden from the caller gets the same error as a tool
 * that does not exist.
 */
import type { Call } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { qualifiedName } from "../kernel/tool-facts.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";

/**
 * Does not contain the name of the tool: it may be hidden from the caller. Only the record says why.
 */
export function toolNotFound(hidden: string): MetaMcpError {
  return new MetaMcpError("tool_not_found", "No tool of that name is available here.", { hidden });
}

export function forbidden(call: Call, reason: string): MetaMcpError {
  return new MetaMcpError("forbidden", reason, whereOf(call));
}

/**
 * For a request with a method that MetaMCP does not know, if a rule does not allow it, or wants somebody to
 * be asked first: people cannot judge what it does. The same error as from a server that does not know it
 * either.
 */
export function notPermitted({ method }: Call): RpcError {
  return RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
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
