/**
 * Records the arguments of successful calls as examples, if the user enabled that. Never delays a call and
 * never fails one.
 */
import type { Middleware, ServerId } from "../kernel/call.ts";
import { EMPTY_OBJECT, type Raw, scalarOf } from "../kernel/raw.ts";
import { member, members } from "../rpc/slice.ts";

export interface ExampleRecorder {
  enabled(): boolean;
  record(server: ServerId, tool: string, args: Raw): void;
}

export function recordExamples(recorder: ExampleRecorder): Middleware {
  return (next) =>
    function recordExamples(call) {
      if (!recorder.enabled() || call.method !== "tools/call") return next(call);
      return next(call).then((result) => {
        const isError = member(result, "isError");
        const [name, args = EMPTY_OBJECT] = members(call.params, ["name", "arguments"]);
        if (name && isError?.toString() !== "true")
          recorder.record(call.server, String(scalarOf(name)), args);
        return result;
      });
    };
}
