/** A call that has ended as spans of OTLP in JSON: one towards the client, and one towards the server where it was asked. */
import type { CallEnded } from "../../kernel/events.ts";
import { type CallRow, errorType } from "../call-row.ts";

/** As opentelemetry-proto has it, in its JSON form. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

const KIND = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;
const SAMPLED = 1;
const METHOD = "tools/call";

export function spansOf(row: CallRow, ended: CallEnded): readonly Span[] {
  const { trace, child } = ended.trail;
  if (!trace?.sampled) return [];
  const { traceId, spanId, childSpanId, parentId, state } = trace;
  const common = {
    traceId,
    ...(state !== undefined && { traceState: state }),
    flags: SAMPLED,
    name: `${METHOD} ${row.tool}`,
    status:
      row.outcome === "ok" ? {} : { code: FAILED, ...(row.code !== undefined && { message: row.code }) },
  };
  const about = [...described(row, ended), ...failure(row, ended)];
  const own: Span = {
    ...common,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    kind: row.via ? KIND.internal : KIND.server,
    startTimeUnixNano: nanos(ended.at - row.durationMs),
    endTimeUnixNano: nanos(ended.at),
    attributes: about,
  };
  if (!child) return [own];
  const towardsChild: Span = {
    ...common,
    spanId: childSpanId,
    parentSpanId: spanId,
    kind: KIND.client,
    startTimeUnixNano: nanos(child.from),
    endTimeUnixNano: nanos(child.to),
    attributes: about,
  };
  return [own, towardsChild];
}

/** Names by the OpenTelemetry conventions for MCP; ours begin with `metamcp.`. */
function described(row: CallRow, { origin }: CallEnded): readonly Attribute[] {
  return attributes({
    "mcp.method.name": METHOD,
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": row.tool,
    "mcp.session.id": row.session,
    "mcp.protocol.version": origin.protocolVersion,
    "metamcp.endpoint": row.endpoint.name,
    "metamcp.server": row.server.name,
    "metamcp.surface": row.surface,
    "metamcp.via": row.via,
    "metamcp.principal.id": row.principal.id,
    "metamcp.principal.kind": row.principal.kind,
    "metamcp.client": row.client?.name,
    "metamcp.outcome": row.outcome,
    "metamcp.layer": row.by,
    "metamcp.attempts": row.attempts,
    "metamcp.request.bytes": row.requestBytes,
    "metamcp.result.bytes": row.resultBytes,
  });
}

/** A JSON-RPC error goes by its code. */
function failure(row: CallRow, ended: CallEnded): readonly Attribute[] {
  if (row.outcome === "ok") return [];
  const status = ended.rpcCode === undefined ? undefined : String(ended.rpcCode);
  return attributes({
    "error.type": status ?? errorType(row, ended),
    "rpc.response.status_code": status,
  });
}

export function attributes(
  values: Readonly<Record<string, string | number | undefined>>,
): readonly Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }];
  });
}

/** 64 bits do not fit a number of JSON. */
function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
