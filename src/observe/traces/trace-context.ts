/**
 * W3C trace context: reads the parent span of a request and makes the context of a call. Pure; randomness is
 * passed in.
 */
import type { TraceContext } from "../../kernel/call.ts";
import type { Traceable } from "../../kernel/events.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { isString, mayHave, member } from "../../rpc/slice.ts";

export interface ParentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state: string | undefined;
  readonly baggage: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
const LONGEST_ID = 128;

/** Returns undefined for invalid text. Then a new trace begins. */
export function readTraceparent(text: string | undefined): ParentSpan | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text ?? "") ?? [];
  // Future versions may have more fields, version 00 may not.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, spanId, sampled, state: undefined, baggage: undefined };
}

/** `_meta` has precedence over the header, because it belongs to this call. */
function parentOf({ params, trace, within }: Traceable): ParentSpan | undefined {
  if (within) return within;
  const meta = params && mayHave(params, "_meta") ? member(params, "_meta") : undefined;
  const parent = readTraceparent(meta && traceparentIn(meta));
  if (parent || !trace) return parent;
  const outer = readTraceparent(trace.parent);
  return outer && { ...outer, state: trace.state, baggage: trace.baggage };
}

function traceparentIn(meta: Raw): string | undefined {
  const written = member(meta, "traceparent");
  return written && isString(written) ? (fromRaw(written) as string) : undefined;
}

/** Makes the context of a call in the trace of the request, or in a new trace. */
export function contextFrom(
  request: Traceable,
  random: (bytes: number) => string,
  sample: (traceId: string) => boolean,
): TraceContext {
  const { id, overNetwork } = request;
  const parent = parentOf(request);
  const traceId = parent?.traceId ?? random(16);
  return {
    traceId,
    spanId: random(8),
    childSpanId: random(8),
    parentId: parent?.spanId,
    sampled: parent ? parent.sampled : sample(traceId),
    state: parent?.state,
    baggage: parent?.baggage,
    requestId: id && idText(id).slice(0, LONGEST_ID),
    overNetwork,
  };
}

function idText(id: Raw): string {
  return isString(id) ? (fromRaw(id) as string) : id.toString("latin1");
}

/** Samples a share of all traces by trace id, so that every process decides the same for a trace. */
export function ratioSampler(ratio: number): (traceId: string) => boolean {
  const most = Math.min(Math.max(ratio, 0), 1) * 2 ** 32;
  return (traceId) => Number.parseInt(traceId.slice(-8), 16) < most;
}
