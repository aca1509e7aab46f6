/** W3C trace context on its way: what came with a request, and what children get in `_meta`. */
import type { TraceContext } from "./call.ts";

/** Of an HTTP request. */
export interface TraceHeaders {
  readonly parent: string;
  /** What others on the way keep for themselves. */
  readonly state?: string;
}

/** As much as everybody must pass on; more would let strangers fill what waits to be sent. */
const LONGEST_STATE = 512;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Undefined where the request belongs to no trace. */
export function traceHeadersIn(headers: Headers | undefined): TraceHeaders | undefined {
  const { traceparent: parent, tracestate: state } = headers ?? {};
  if (typeof parent !== "string") return undefined;
  const fits = typeof state === "string" && state !== "" && state.length <= LONGEST_STATE;
  return fits ? { parent, state } : { parent };
}

export function traceparentOf({ traceId, childSpanId, sampled }: TraceContext): string {
  return `00-${traceId}-${childSpanId}-${sampled ? "01" : "00"}`;
}
