/** Forwards a request that is not a tool call to one server. */
import type { Repeat, ServerId, Uplink } from "../kernel/call.ts";
import { isOtherMethod } from "../kernel/methods.ts";
import { type Raw, scalarOf } from "../kernel/raw.ts";
import { runPermitted } from "../middleware/permission.ts";
import { isObject, member, members } from "../rpc/slice.ts";
import { afterLogin, type Logins } from "./account-login.ts";
import type { ScopeCalls } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface Forwarded {
  readonly server: ServerId;
  readonly method: string;
  /** With the server's own names and URIs. */
  readonly params: Raw;
  readonly repeat?: Repeat;
  readonly uplink?: Uplink;
}

/** The part of a scope that forwards requests. */
export type Forwarding = Logins & Pick<ScopeCalls, "call" | "target">;

export function forward(
  scope: Forwarding,
  { server, method, params, repeat = "safe", uplink }: Forwarded,
  request: ClientRequest,
): Promise<Raw> {
  const { origin, signal, uplink: clientUplink } = request;
  const deadline = Number.POSITIVE_INFINITY;
  // If an own tool makes this request, the record of that tool call must keep its own target.
  const trail = request.method === method ? request.trail : undefined;
  if (trail) trail.target = { ...scope.target(server, "", origin), tool: subjectOf(method, params) };
  const call = {
    server,
    method,
    params,
    origin,
    signal,
    deadline,
    repeat,
    uplink: uplink ?? clientUplink,
    trail,
  };
  return runPermitted(call, (permissions) => {
    const send = (): Promise<Raw> => scope.call({ ...call, permissions });
    return scope.login ? afterLogin(scope, request, send) : send();
  });
}

/**
 * What a request that is not a tool call is about: a prompt, a resource, or the method itself if it is not
 * known.
 */
export function subjectOf(method: string, params: Raw | undefined): string {
  if (isOtherMethod(method)) return method;
  return nameIn(method === "completion/complete" && params ? member(params, "ref") : params);
}

/** Returns the name of a prompt or the URI of a resource. */
export function nameIn(params: Raw | undefined): string {
  const [name, uri] = params && isObject(params) ? members(params, ["name", "uri"]) : [];
  const written = name ?? uri;
  return written ? String(scalarOf(written)) : "";
}
