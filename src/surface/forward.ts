/** A request that concerns no tool, on its way to one server. */
import type { Repeat, ServerId, Uplink } from "../kernel/call.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { runPermitted } from "../middleware/permission.ts";
import { members } from "../rpc/slice.ts";
import { afterLogin } from "./own-login.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface Forwarded {
  readonly server: ServerId;
  readonly method: string;
  /** In that server's own words. */
  readonly params: Raw;
  readonly repeat?: Repeat;
  readonly uplink?: Uplink;
}

export function forward(
  scope: Scope,
  { server, method, params, repeat = "safe", uplink }: Forwarded,
  request: ClientRequest,
): Promise<Raw> {
  const { origin, signal, uplink: back } = request;
  const deadline = Number.POSITIVE_INFINITY;
  // A tool of ours that asks for it has a record of its own.
  const trail = request.method === method ? request.trail : undefined;
  if (trail) trail.target = { ...scope.target(server, "", origin), tool: nameIn(params) };
  const call = { server, method, params, origin, signal, deadline, repeat, uplink: uplink ?? back, trail };
  return runPermitted(call, (permissions) => {
    const send = (): Promise<Raw> => scope.call({ ...call, permissions });
    return scope.login ? afterLogin(scope, request, send) : send();
  });
}

/** Of a prompt its name, of a resource its URI. */
export function nameIn(params: Raw | undefined): string {
  const [name, uri] = params ? members(params, ["name", "uri"]) : [];
  const written = name ?? uri;
  return written ? String(fromRaw(written)) : "";
}
