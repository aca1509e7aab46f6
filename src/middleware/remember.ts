/** Remembers the arguments of calls that worked, where the user wants that. Never holds up a call and never fails one. */
import type { Middleware, ServerId } from "../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../kernel/raw.ts";
import { member, members } from "../rpc/slice.ts";

export interface Memory {
  /** Whether it is wanted at the moment. */
  enabled(): boolean;
  worked(server: ServerId, tool: string, args: Raw): void;
}

export function remember(memory: Memory): Middleware {
  return (next) =>
    function remember(call) {
      if (!memory.enabled() || call.method !== "tools/call") return next(call);
      return next(call).then((result) => {
        const isError = member(result, "isError");
        const [name, args = EMPTY_OBJECT] = members(call.params, ["name", "arguments"]);
        if (name && isError?.toString() !== "true") memory.worked(call.server, String(fromRaw(name)), args);
        return result;
      });
    };
}
