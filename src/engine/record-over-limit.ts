/** Records a call that was refused before it reached a surface, because too many are in flight. */
import { randomUUID } from "node:crypto";
import type { Origin } from "../kernel/call.ts";
import type { Principal } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { NO_UPLINK } from "../rpc/no-uplink.ts";
import { members } from "../rpc/slice.ts";
import { type Recording, recordRefusal } from "../surface/recorded.ts";

interface OverLimitRequest {
  readonly endpoint: string;
  readonly principal: Principal;
  /** The origin of its session; undefined without a session. */
  readonly origin: Origin | undefined;
  readonly method: string;
  readonly params: Raw | undefined;
}

/** Records the name as the caller wrote it, because the tool was not looked up. */
export function recordOverLimit(recording: Recording, request: OverLimitRequest): void {
  const { endpoint, principal, method, params } = request;
  if (method !== "tools/call") return;
  const [raw, args] = params ? members(params, ["name", "arguments"]) : [];
  const name = raw && fromRaw(raw);
  const origin: Origin = request.origin ?? {
    endpoint,
    principal,
    session: randomUUID(),
    sessionless: true,
    capabilities: EMPTY_OBJECT,
    uplink: NO_UPLINK,
  };
  recordRefusal(
    recording,
    { server: "", tool: typeof name === "string" ? name : "", args },
    { method, params, origin, signal: new CallSignal(), uplink: origin.uplink },
    { code: "rate_limited", by: "limits", error: new Error("Too many requests at once.") },
  );
}
