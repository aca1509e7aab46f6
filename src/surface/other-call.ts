/**
 * Calls of names that are not our own tools, on the surfaces that list those: pinned tools, and tools of
 * apps.
 */
import type { Raw } from "../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { appCall } from "./app-call.ts";
import { hasBuiltin, unknownTool } from "./builtin/tools.ts";
import { readParams } from "./call-params.ts";
import type { PinnedTools } from "./pinned/pinned-tools.ts";
import { recordRefusal } from "./recorded.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface Others {
  /** With the tools that are hidden from models. */
  readonly all: Scope;
  readonly pinned: PinnedTools;
}

/** `own` are the names of our tools here, for the error. */
export function callOther(
  scope: Scope,
  request: ClientRequest,
  { all, pinned }: Others,
  own: () => readonly string[],
): Promise<Raw> {
  const { name: wanted, args } = readParams(request.params);
  const name = typeof wanted === "string" ? wanted : "";
  return pinned.call(name, request, {
    app: (otherwise, listed) => appCall({ scope: all, listed, otherwise }, request),
    unknown: () => {
      recordRefusal(scope, { server: "", tool: name, args }, request, { code: "tool_not_found" });
      const known = own().filter((tool) => hasBuiltin(scope, tool, request.origin));
      throw RpcError.of(INVALID_PARAMS, unknownTool(wanted, known));
    },
  });
}
