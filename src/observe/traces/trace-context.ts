/** W3C trace context: where a call stands in a trace, and how that is written for the next one. Pure; chance is passed in. */
import type { TraceContext } from "../../kernel/call.ts";
import type { Traceable } from "../../kernel/events.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { isString, members } from "../../rpc/slice.ts";

export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined for what is none: a trace is then begun anew. */
export function readTraceparent(text: string | undefined): Parent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text ?? "") ?? [];
  // Versions to come may say more, that of today may not.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** `_meta` says more than a header: it is of this very call. */
function parentOf({ params, trace, within }: Traceable): Parent | undefined {
  if (within) return within;
  const [meta] = params ? members(params, ["_meta"]) : [];
  const parent = readTraceparent(meta && inMeta(meta));
  if (parent || !trace) return parent;
  const outer = readTraceparent(trace.parent);
  return outer && trace.state !== undefined ? { ...outer, state: trace.state } : outer;
}

function inMeta(meta: Raw): string | undefined {
  const [written] = members(meta, ["traceparent"]);
  return written && isString(written) ? (fromRaw(written) as string) : undefined;
}

/** A place in the trace that the request belongs to, or in a new one. */
export function contextFrom(
  { id, overNetwork, ...request }: Traceable,
  random: (bytes: number) => string,
  sample: (traceId: string) => boolean,
): TraceContext {
  const parent = parentOf(request);
  const traceId = parent?.traceId ?? random(16);
  return {
    traceId,
    spanId: random(8),
    childSpanId: random(8),
    ...(parent && { parentId: parent.spanId }),
    sampled: parent ? parent.sampled : sample(traceId),
    ...(parent?.state !== undefined && { state: parent.state }),
    ...(id && { requestId: isString(id) ? (fromRaw(id) as string) : id.toString() }),
    ...(overNetwork && { overNetwork }),
  };
}

/** A share of all traces, the same one wherever a trace is judged. */
export function ratioSampler(ratio: number): (traceId: string) => boolean {
  const most = Math.min(Math.max(ratio, 0), 1) * 2 ** 32;
  return (traceId) => Number.parseInt(traceId.slice(-8), 16) < most;
}
