/**
 * Layer `audit`: sets how much of a call the audit log keeps, and whether calls are refused if the log cannot
 * be written. The innermost such layer decides what is kept.
 */
import type { Call, Handler, KeptDetail } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { LayerKind, Recording } from "../layer.ts";

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
      required: {
        type: "boolean",
        default: false,
        description: "make and answer calls only when the log contains them",
      },
    },
  },
  guards: true,
  mayBeInside: true,
  compile(options, { recording }) {
    const { arguments: args, results, required } = options as unknown as Options;
    const keep = { arguments: args, results };
    const isRecordable = (): boolean => recording?.isReady() ?? false;
    return {
      explain: () =>
        required && !isRecordable()
          ? { effect: "deny", reason: "it cannot be recorded now", code: "server_unavailable" }
          : undefined,
      // Other requests, such as lists, are not recorded.
      ...(required && {
        request: (next) => (request) => {
          if (!request.own) return next(request);
          if (!isRecordable()) return Promise.reject(unrecorded());
          if (request.trail) request.trail.required = true;
          return next(request);
        },
      }),
      // The record is written inside of all layers, and the config may change meanwhile.
      waits: required,
      call: (next) => (call) => {
        if (call.trail) call.trail.keep = keep;
        return required ? recordedFirst(call, recording, next) : next(call);
      },
    };
  },
};

/**
 * The call is sent to its server when the log contains that it begins: whatever happens then, there is a
 * record. One that an inner layer refuses or answers has none, so that refused calls do not fill the log.
 */
async function recordedFirst(call: Call, recording: Recording | undefined, next: Handler): Promise<Raw> {
  const { trail } = call;
  if (!recording?.isReady() || !trail) throw unrecorded();
  trail.required = true;
  let beginning: Promise<void> | undefined;
  let failed = false;
  const begin = (): Promise<void> =>
    recording.begin(call).catch((error: unknown) => {
      failed = true;
      throw unrecorded(error);
    });
  // An outer layer, or an earlier run of the call, may have set it.
  trail.begin ??= () => (beginning ??= begin());
  try {
    return await next(call);
  } catch (error) {
    // An error of its own says that this layer refuses the call.
    throw failed ? unrecorded(error) : error;
  }
}

function unrecorded(cause?: unknown): MetaMcpError {
  return new MetaMcpError(
    "server_unavailable",
    "The audit log cannot be written, and calls must be recorded here. Nothing was done.",
    { cause },
  );
}
