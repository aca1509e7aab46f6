/**
 * Messages that all surfaces handle alike: log levels and changed roots are forwarded to the children.
 * Everything else is refused or ignored.
 */
import type { Origin } from "../kernel/call.ts";
import { EMPTY_OBJECT, type Raw, scalarOf } from "../kernel/raw.ts";
import { isSeverity } from "../kernel/severity.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";
import type { ScopeCalls } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** Throws for a method that no surface knows. */
export function passThrough(scope: ScopeCalls, { method, params, origin }: ClientRequest): Promise<Raw> {
  if (method !== "logging/setLevel") throw RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
  const [level] = params ? members(params, ["level"]) : [];
  const wanted = scalarOf(level);
  if (!isSeverity(wanted)) throw RpcError.of(INVALID_PARAMS, `Unknown log level: ${String(wanted)}`);
  scope.setLogLevel(origin, wanted);
  return Promise.resolve(EMPTY_OBJECT);
}

export function passOn(scope: ScopeCalls, method: string, params: Raw | undefined, origin: Origin): void {
  if (method === "notifications/roots/list_changed") scope.notify(origin, method, params);
}
