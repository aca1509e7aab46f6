/** W3C trace context: read from the headers of a request, and written to the `_meta` of calls to children. */
import type { TraceContext } from "./call.ts";

/** Trace headers of an HTTP request. */
export interface TraceHeaders {
  readonly parent: string;
  /** `tracestate`: data of other tracing systems. */
  readonly state?: string;
}

/** The length that every system must pass on. Longer values are dropped, because they would let callers fill the export queue. */
const LONGEST_STATE = 512;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns undefined if the request belongs to no trace. */
export function traceHeadersIn(headers: Headers | undefined): TraceHeaders | undefined {
  const { traceparent: parent, tracestate: state } = headers ?? {};
  if (typeof parent !== "string") return undefined;
  const fits = typeof state === "string" && state !== "" && state.length <= LONGEST_STATE;
  return fits ? { parent, state } : { parent };
}

export function traceparentOf({ traceId, childSpanId, sampled }: TraceContext): string {
  return `00-${traceId}-${childSpanId}-${sampled ? "01" : "00"}`;
}
