/** W3C trace context: read from the headers of a request, and written to the `_meta` of calls to children. */
import type { TraceContext } from "./call.ts";

/** Headers of an HTTP request that connect its calls with other records. */
export interface TraceHeaders {
  /** `traceparent` */
  readonly parent?: string;
  /** `tracestate`: data of other tracing systems. */
  readonly state?: string;
  /** `baggage`: values that the systems of a trace tell each other. */
  readonly baggage?: string;
  /** `x-request-id`: the id of the request in the access log. The HTTP server has checked it. */
  readonly request?: string;
}

/**
 * The lengths that every system must pass on. Longer values are dropped, because they would let callers fill
 * the export queue.
 */
const LONGEST_STATE = 512;
const LONGEST_BAGGAGE = 8_192;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export function requestIdIn(headers: Headers | undefined): { readonly request: string } | undefined {
  const request = headers?.["x-request-id"];
  return typeof request === "string" ? { request } : undefined;
}

/** Returns undefined if the request has none of them. */
export function traceHeadersIn(headers: Headers | undefined): TraceHeaders | undefined {
  const { traceparent: parent, tracestate: state, baggage } = headers ?? {};
  const id = requestIdIn(headers);
  if (typeof parent !== "string") return id;
  return {
    ...id,
    parent,
    ...(isShort(state, LONGEST_STATE) && { state }),
    ...(isShort(baggage, LONGEST_BAGGAGE) && { baggage }),
  };
}

function isShort(value: string | readonly string[] | undefined, longest: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= longest;
}

export function traceparentOf({ traceId, childSpanId, sampled }: TraceContext): string {
  return `00-${traceId}-${childSpanId}-${sampled ? "01" : "00"}`;
}
