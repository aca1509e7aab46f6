/** Layer `audit`: sets how much of a call the audit log keeps, and whether calls are refused if the log cannot be written. The innermost such layer decides what is kept. */
import type { KeptDetail } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { LayerKind } from "../layer.ts";

const KEPT = ["none", "names", "redacted", "full"] as const satisfies readonly KeptDetail[];

interface Options {
  readonly arguments: KeptDetail;
  readonly results: KeptDetail;
  readonly required: boolean;
}

export const audit: LayerKind = {
  summary: "Set how much of a call the audit log records, and refuse calls that cannot be recorded.",
  schema: {
    properties: {
      arguments: {
        enum: KEPT,
        default: "names",
        description: "none, names, redacted (values that look secret are masked) or full",
      },
      results: { enum: KEPT, default: "names", description: "the same for results" },
      required: { type: "boolean", default: false, description: "refuse calls that cannot be recorded" },
    },
  },
  guards: true,
  mayBeInside: true,
  compile(options, { recordable }) {
    const { arguments: args, results, required } = options as unknown as Options;
    const keep = { arguments: args, results };
    const refusal = (): Promise<never> | undefined =>
      required && !(recordable?.() ?? false) ? Promise.reject(unrecorded()) : undefined;
    return {
      explain: () =>
        required && !(recordable?.() ?? false)
          ? { effect: "deny", reason: "it cannot be recorded now", code: "server_unavailable" }
          : undefined,
      // Other requests, such as lists, are not recorded.
      ...(required && {
        request: (next) => (request) => (request.own && refusal()) ?? next(request),
      }),
      call: (next) => (call) => {
        if (call.trail) call.trail.keep = keep;
        return refusal() ?? next(call);
      },
    };
  },
};

function unrecorded(): MetaMcpError {
  return new MetaMcpError(
    "server_unavailable",
    "The audit log cannot be written, and calls must be recorded here. Nothing was done.",
  );
}
