/** W3C trace context: where a call stands in a trace, and how that is written for the next one. Pure; chance is passed in. */
import type { TraceContext } from "../../kernel/call.ts";
import type { Traceable } from "../../kernel/events.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { isString, mayHave, member } from "../../rpc/slice.ts";

export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
const LONGEST_ID = 128;

/** Undefined for what is none: a trace is then begun anew. */
export function readTraceparent(text: string | undefined): Parent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text ?? "") ?? [];
  // Versions to come may say more, that of today may not.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED, state: undefined };
}

/** `_meta` says more than a header: it is of this very call. */
function parentOf({ params, trace, within }: Traceable): Parent | undefined {
  if (within) return within;
  const meta = params && mayHave(params, "_meta") ? member(params, "_meta") : undefined;
  const parent = readTraceparent(meta && inMeta(meta));
  if (parent || !trace) return parent;
  const outer = readTraceparent(trace.parent);
  return outer && { ...outer, state: trace.state };
}

function inMeta(meta: Raw): string | undefined {
  const written = member(meta, "traceparent");
  return written && isString(written) ? (fromRaw(written) as string) : undefined;
}

/** A place in the trace that the request belongs to, or in a new one. */
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
    requestId: id && idText(id).slice(0, LONGEST_ID),
    overNetwork,
  };
}

function idText(id: Raw): string {
  return isString(id) ? (fromRaw(id) as string) : id.toString("latin1");
}

/** A share of all traces, the same one wherever a trace is judged. */
export function ratioSampler(ratio: number): (traceId: string) => boolean {
  const most = Math.min(Math.max(ratio, 0), 1) * 2 ** 32;
  return (traceId) => Number.parseInt(traceId.slice(-8), 16) < most;
}
