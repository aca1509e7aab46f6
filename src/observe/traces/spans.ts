/** A call that has ended as spans of OTLP in JSON: one towards the client, and one towards the server where it was asked. */
import type { CallEnded } from "../../kernel/events.ts";
import { type CallRow, errorType } from "../call-row.ts";
import type { Names } from "../names.ts";

/**
 * One span as opentelemetry-proto has it, in its JSON form. Written at once: many wait in memory, and as objects they cost
 * more than the rest of a trace.
 */
export type SpanText = string;

const KIND = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;
const SAMPLED = 1;
const TOOLS = "tools/call";

export function spansOf(
  row: CallRow,
  ended: CallEnded,
  names: Pick<Names, "transport">,
): readonly SpanText[] {
  const { trace, child } = ended.trail;
  if (!trace?.sampled) return [];
  const { traceId, spanId, childSpanId, parentId, state, requestId, overNetwork } = trace;
  const status = row.outcome === "ok" ? {} : { code: FAILED, message: row.code };
  const common = [
    `"traceId":"${traceId}","flags":${SAMPLED},"name":${JSON.stringify(nameOf(row))}`,
    `"status":${JSON.stringify(status)}`,
    ...(state === undefined ? [] : [`"traceState":${JSON.stringify(state)}`]),
  ].join();
  const parent = parentId === undefined ? "" : `"parentSpanId":"${parentId}",`;
  const kind = row.via ? KIND.internal : KIND.server;
  const time = times(ended.at - row.durationMs, ended.at);
  const about = attributesText(described(row, ended));
  const asked = row.via
    ? about
    : extended(about, {
        "jsonrpc.request.id": requestId,
        "network.transport": overNetwork ? "tcp" : undefined,
      });
  const own = `{${parent}"spanId":"${spanId}","kind":${kind},${time},${common},"attributes":${asked}}`;
  if (!child) return [own];
  const childTime = times(child.from, child.to);
  const sent = extended(about, { "network.transport": names.transport(ended.server) });
  return [
    own,
    `{"parentSpanId":"${spanId}","spanId":"${childSpanId}","kind":${KIND.client},${childTime},${common},"attributes":${sent}}`,
  ];
}

/** Names by the OpenTelemetry conventions for MCP; ours begin with `metamcp.`. */
function described(row: CallRow, ended: CallEnded): Values {
  const { origin, rpcCode } = ended;
  const failed = row.outcome !== "ok";
  // A JSON-RPC error goes by its code.
  const status = rpcCode === undefined || !failed ? undefined : String(rpcCode);
  return {
    "mcp.method.name": row.method ?? TOOLS,
    ...subjectOf(row),
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
    "error.type": failed ? (status ?? errorType(row, ended)) : undefined,
    "rpc.response.status_code": status,
  };
}

/** What is used, by the name of its kind. A URI is in no name of a span: there are too many. */
function subjectOf({ method, tool }: CallRow): Values {
  if (method === "prompts/get") return { "gen_ai.prompt.name": tool };
  if (method === "resources/read") return { "mcp.resource.uri": tool };
  return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool };
}

function nameOf({ method, tool }: CallRow): string {
  return method === "resources/read" ? method : `${method ?? TOOLS} ${tool}`;
}

type Values = Readonly<Record<string, string | number | undefined>>;

/** A JSON array; what is undefined is left out. */
export function attributesText(values: Values): string {
  let text = "";
  for (const key in values) {
    const value = values[key];
    if (value === undefined) continue;
    const written =
      typeof value === "number" ? `"intValue":"${value}"` : `"stringValue":${JSON.stringify(value)}`;
    text += `${text === "" ? "" : ","}{"key":${JSON.stringify(key)},"value":{${written}}}`;
  }
  return `[${text}]`;
}

function extended(text: string, values: Values): string {
  const more = attributesText(values);
  return more === "[]" ? text : `${text.slice(0, -1)},${more.slice(1)}`;
}

function times(from: number, to: number): string {
  return `"startTimeUnixNano":"${nanos(from)}","endTimeUnixNano":"${nanos(to)}"`;
}

/** 64 bits do not fit a number of JSON: microseconds, and three digits more. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
