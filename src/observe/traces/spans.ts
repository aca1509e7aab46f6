/**
 * A call that has ended as spans of OTLP in JSON: one towards the client, and one towards the server where it was asked.
 * Written as text at once, from parts that most spans share: as objects they would cost more than the rest of a trace.
 */
import type { Origin, TraceContext } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import { type CallRow, errorType } from "../call-row.ts";
import type { Names } from "../names.ts";
import { quoted } from "../quoted.ts";

const KIND = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;
const SAMPLED = 1;
const TOOLS = "tools/call";

/** One or two, with a comma between them. */
export function spansText(row: CallRow, ended: CallEnded, names: Pick<Names, "transport">): string {
  const { trace, child } = ended.trail;
  if (!trace) return "";
  const common = commonText(row, trace);
  const about = subjectText(row) + endingText(row, ended);
  const parent = trace.parentId === undefined ? "" : `"parentSpanId":"${trace.parentId}",`;
  const kind = row.via ? KIND.internal : KIND.server;
  const time = timesText(ended.at - row.durationMs, ended.at);
  const own = `{${parent}"spanId":"${trace.spanId}","kind":${kind},${time},${common},"attributes":[${about}${callerText(row, ended.origin)}${requestText(row, trace)}]}`;
  if (!child) return own;
  const transport = text("network.transport", names.transport(ended.server));
  return `${own},{"parentSpanId":"${trace.spanId}","spanId":"${trace.childSpanId}","kind":${KIND.client},${timesText(child.from, child.to)},${common},"attributes":[${about}${transport}]}`;
}

/** What both have. A URI is in no name of a span: there are too many. */
function commonText({ method, tool, outcome, code }: CallRow, { traceId, state }: TraceContext): string {
  const name = method === "resources/read" ? `"${method}"` : `"${method ?? TOOLS} ${quoted(tool).slice(1)}`;
  const status = outcome === "ok" ? "{}" : JSON.stringify({ code: FAILED, message: code });
  const told = `"traceId":"${traceId}","flags":${SAMPLED},"name":${name},"status":${status}`;
  return state === undefined ? told : `${told},"traceState":${JSON.stringify(state)}`;
}

/** What is used, by the name of its kind, and where. Names are by the OpenTelemetry conventions for MCP; ours begin with `metamcp.`. */
function subjectText({ method, tool, endpoint, server }: CallRow): string {
  const place = text("metamcp.endpoint", endpoint.name) + text("metamcp.server", server.name);
  const subject =
    method === "prompts/get"
      ? text("gen_ai.prompt.name", tool)
      : method === "resources/read"
        ? text("mcp.resource.uri", tool)
        : text("gen_ai.operation.name", "execute_tool") + text("gen_ai.tool.name", tool);
  return `{"key":"mcp.method.name","value":{"stringValue":"${method ?? TOOLS}"}}${subject}${place}`;
}

function endingText(row: CallRow, ended: CallEnded): string {
  const { outcome, attempts, by } = row;
  let told = `,{"key":"metamcp.outcome","value":{"stringValue":"${outcome}"}}`;
  if (attempts !== undefined) told += number("metamcp.attempts", attempts);
  if (outcome === "ok") return told;
  // A JSON-RPC error goes by its code.
  const status = ended.rpcCode === undefined ? undefined : String(ended.rpcCode);
  return `${told}${text("metamcp.layer", by)}${text("error.type", status ?? errorType(row, ended))}${text("rpc.response.status_code", status)}`;
}

const callers = new WeakMap<Origin, string>();

/** Who asked: the same for all calls of a session. */
function callerText({ session, principal, client }: CallRow, origin: Origin): string {
  let told = callers.get(origin);
  if (told === undefined) {
    told = [
      text("mcp.session.id", session),
      text("mcp.protocol.version", origin.protocolVersion),
      text("metamcp.principal.id", principal.id),
      text("metamcp.principal.kind", principal.kind),
      text("metamcp.client", client?.name),
    ].join("");
    callers.set(origin, told);
  }
  return told;
}

function requestText({ surface, via, requestBytes, resultBytes }: CallRow, trace: TraceContext): string {
  const size = number("metamcp.request.bytes", requestBytes) + number("metamcp.result.bytes", resultBytes);
  const told = text("metamcp.surface", surface) + size;
  if (via) return told + text("metamcp.via", via);
  const { requestId, overNetwork } = trace;
  const id =
    requestId === undefined
      ? ""
      : `,{"key":"jsonrpc.request.id","value":{"stringValue":${JSON.stringify(requestId)}}}`;
  return `${told}${id}${overNetwork ? text("network.transport", "tcp") : ""}`;
}

/** An attribute after another; nothing where it has no value. */
function text(key: string, value: string | undefined): string {
  return value === undefined ? "" : `,{"key":"${key}","value":{"stringValue":${quoted(value)}}}`;
}

function number(key: string, value: number): string {
  return `,{"key":"${key}","value":{"intValue":"${value}"}}`;
}

export function attributesText(values: Readonly<Record<string, string>>): string {
  const all = Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));
  return JSON.stringify(all);
}

function timesText(from: number, to: number): string {
  return `"startTimeUnixNano":"${nanos(from)}","endTimeUnixNano":"${nanos(to)}"`;
}

let second = { at: 0, text: "0" };

/** 64 bits do not fit a number of JSON. Writing so large a number costs more than remembering its second. */
function nanos(ms: number): string {
  const micros = Math.round(ms * 1_000);
  const at = Math.floor(micros / 1e6);
  if (at !== second.at) second = { at, text: String(at) };
  return `${second.text}${String(1e6 + (micros - at * 1e6)).slice(1)}000`;
}
