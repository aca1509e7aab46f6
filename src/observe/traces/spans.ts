/**
 * Writes a finished call as OTLP spans in JSON: one for the client side, and one for the server if the call
 * reached it. Parts that most spans share are cached as bytes. As strings they would be concatenated and
 * copied for each span, which costs more than the rest of a trace.
 */
import type { Origin, TraceContext, Trail } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import type { CallGroup } from "../call-groups.ts";
import { errorType } from "../call-row.ts";
import type { CallRow } from "../call-schema.ts";
import type { Names } from "../names.ts";
import type { ObservedCall } from "../observer.ts";
import { quoted } from "../quoted.ts";
import type { TextBuffer } from "../text-buffer.ts";

const KIND = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;
const SAMPLED = 1;
const TOOLS = "tools/call";

/** Returns the number of written spans: 0 without a trace, otherwise 1 or 2. */
export function writeSpans(page: TextBuffer, call: ObservedCall, names: Pick<Names, "transport">): number {
  const { row, ended } = call;
  const { trace, child } = ended.trail;
  if (!trace) return 0;
  const { traceId, spanId, childSpanId, parentId } = trace;
  const subject = subjectBytes(call);
  const ending = endingText(row, ended);
  const common = commonText(row, trace);
  if (page.length > 0) page.addBytes(COMMA);
  writeHead(page, traceId, spanId, { from: ended.at - row.durationMs, to: ended.at });
  page.addBytes(subject);
  page.addBytes(callerBytes(row, ended.origin));
  const kind = row.via ? KIND.internal : KIND.server;
  const own = `${ending}${requestText(row, trace)}],"kind":${kind}${parentText(parentId)}${common}}`;
  if (!child) {
    page.add(own);
    return 1;
  }
  page.add(`${own},`);
  writeHead(page, traceId, childSpanId, child);
  page.addBytes(subject);
  const transport = text("network.transport", names.transport(ended.server));
  page.add(`${ending}${transport}],"kind":${KIND.client}${parentText(spanId)}${common}}`);
  return 2;
}

const gap = (length: number): string => "0".repeat(length);
const SECONDS = 10;
const MICROS = 6;
const TIME = `${gap(SECONDS + MICROS)}000`;
const PARTS = [
  '{"traceId":"',
  `${gap(32)}","spanId":"`,
  `${gap(16)}","startTimeUnixNano":"`,
  `${TIME}","endTimeUnixNano":"`,
];
const HEAD = Buffer.from(`${PARTS.join("")}${TIME}"`);
/** The positions of the gaps in a head. */
const [TRACE = 0, SPAN = 0, FROM = 0, TO = 0] = PARTS.map((_, n) => PARTS.slice(0, n + 1).join("").length);
const COMMA = Buffer.from(",");

type Times = NonNullable<Trail["child"]>;

/** Writes ids and times, which differ for each span, directly as bytes to avoid garbage collection. */
function writeHead(page: TextBuffer, traceId: string, spanId: string, { from, to }: Times): void {
  const at = page.length;
  page.addBytes(HEAD);
  page.put(at + TRACE, traceId);
  page.put(at + SPAN, spanId);
  putTime(page, at + FROM, from);
  putTime(page, at + TO, to);
}

/** Writes seconds and microseconds separately, because nanoseconds since 1970 do not fit into a number. */
function putTime(page: TextBuffer, at: number, ms: number): void {
  const micros = Math.round(ms * 1_000);
  const seconds = Math.floor(micros / 1e6);
  if (seconds !== second.at) second = { at: seconds, text: String(seconds) };
  page.put(at, second.text);
  page.putDigits(at + SECONDS, MICROS, micros - seconds * 1e6);
}

/** The last second is cached, because many calls end in the same second. */
let second = { at: 0, text: "" };

/** Status and trace state, which are the same in both spans and rare. */
function commonText({ outcome, code }: CallRow, { state }: TraceContext): string {
  const status = outcome === "ok" ? "" : `,"status":${JSON.stringify({ code: FAILED, message: code })}`;
  return state === undefined ? status : `${status},"traceState":${JSON.stringify(state)}`;
}

function parentText(parentId: string | undefined): string {
  return parentId === undefined ? "" : `,"parentSpanId":"${parentId}"`;
}

const subjects = new WeakMap<CallGroup, Buffer>();

/**
 * The part that both spans and all calls of a tool share. It is not cached for unknown names, which callers
 * can choose freely.
 */
function subjectBytes({ row, group }: ObservedCall): Buffer {
  if (group.tool !== row.tool || group.server.name !== row.server.name) return Buffer.from(subjectText(row));
  let bytes = subjects.get(group);
  if (!bytes) {
    bytes = Buffer.from(subjectText(row));
    subjects.set(group, bytes);
  }
  return bytes;
}

/**
 * The text up to the first attributes. Names follow the OpenTelemetry conventions for MCP; our own begin with
 * `metamcp.`.
 */
function subjectText({ method, tool, endpoint, server }: CallRow): string {
  // URIs are not part of span names, because there are too many.
  const isResource = method?.startsWith("resources/") === true;
  const name = isResource || method === "completion/complete" ? method : `${method ?? TOOLS} ${tool}`;
  const place = text("metamcp.endpoint", endpoint.name) + text("metamcp.server", server.name);
  const subject =
    method === "prompts/get"
      ? text("gen_ai.prompt.name", tool)
      : isResource
        ? text("mcp.resource.uri", tool)
        : text("gen_ai.operation.name", "execute_tool") + text("gen_ai.tool.name", tool);
  return `,"flags":${SAMPLED},"name":${JSON.stringify(name)},"attributes":[{"key":"mcp.method.name","value":{"stringValue":"${method ?? TOOLS}"}}${subject}${place}`;
}

function endingText(row: CallRow, ended: CallEnded): string {
  const { outcome, attempts, by } = row;
  let outcomeText = `,{"key":"metamcp.outcome","value":{"stringValue":"${outcome}"}}`;
  if (attempts !== undefined) outcomeText += number("metamcp.attempts", attempts);
  if (outcome === "ok") return outcomeText;
  // A JSON-RPC error is identified by its code.
  const status = ended.rpcCode === undefined ? undefined : String(ended.rpcCode);
  return `${outcomeText}${text("metamcp.layer", by)}${text("error.type", status ?? errorType(row, ended))}${text("rpc.response.status_code", status)}`;
}

interface Caller {
  readonly surface: string | undefined;
  readonly bytes: Buffer;
}

const callers = new WeakMap<Origin, Caller>();

/** The attributes of the caller, which are the same for all calls of a session. */
function callerBytes({ session, principal, client, surface }: CallRow, origin: Origin): Buffer {
  let caller = callers.get(origin);
  if (!caller || caller.surface !== surface) {
    const all = [
      text("mcp.session.id", session),
      text("mcp.protocol.version", origin.protocolVersion),
      text("metamcp.principal.id", principal.id),
      text("metamcp.principal.kind", principal.kind),
      text("metamcp.client", client?.name),
      text("metamcp.surface", surface),
    ];
    caller = { surface, bytes: Buffer.from(all.join("")) };
    callers.set(origin, caller);
  }
  return caller.bytes;
}

const OVER_NETWORK = text("network.transport", "tcp");

function requestText({ via, request, requestBytes, resultBytes }: CallRow, trace: TraceContext): string {
  const bytes = number("metamcp.request.bytes", requestBytes) + number("metamcp.result.bytes", resultBytes);
  const size = request === undefined ? bytes : bytes + attribute("metamcp.request.id", request);
  if (via) return size + text("metamcp.via", via);
  const { requestId, overNetwork } = trace;
  const id = requestId === undefined ? "" : attribute("jsonrpc.request.id", requestId);
  return `${size}${id}${overNetwork ? OVER_NETWORK : ""}`;
}

/** An attribute with a leading comma, for values that differ from call to call. */
function attribute(key: string, value: string): string {
  return `,{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}`;
}

/** An attribute with a leading comma, for values that repeat. Empty without a value. */
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
