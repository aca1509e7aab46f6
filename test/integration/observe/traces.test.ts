/**
 * Traces: what a collector receives, how traces continue at servers, and what happens if the collector fails.
 */
import { expect, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { type Collector, collector, otlpProblems, type SentSpan } from "../../support/otlp.ts";
import { auditRecords } from "../../support/records.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const PARENT = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const traceparent = `00-${PARENT.trace}-${PARENT.span}-01`;
const SERVER = 2;
const CLIENT = 3;

async function traced({ url }: Pick<Collector, "url">, env: Readonly<Record<string, string>> = {}) {
  const gateway = await teamGateway(temp(), { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env } });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const surface of ["meta", "aggregate"])
    await api("POST", "/endpoints", { name: surface, namespaces: ["team"], surface, openapi: true });
  return { gateway, api, key: await gateway.key() };
}

/** A raw MCP call with the given `_meta` and headers. */
async function rawCall(
  { url }: TeamGateway,
  key: string,
  params: object,
  headers: Record<string, string> = {},
) {
  const common = { ...HEADERS, "x-api-key": key, "mcp-protocol-version": "2025-11-25" };
  const post = (body: object, more: Record<string, string>) =>
    fetch(`${url}/metamcp/aggregate/mcp`, {
      method: "POST",
      headers: { ...common, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const clientInfo = { name: "raw", version: "1" };
  const hello = await post(
    { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
    {},
  );
  const session = { "mcp-session-id": hello.headers.get("mcp-session-id") ?? "" };
  await hello.text();
  return await (await post({ id: 2, method: "tools/call", params }, { ...session, ...headers })).text();
}

const pairOf = (spans: readonly SentSpan[], name: string): readonly [SentSpan, SentSpan] => {
  const of = (kind: number) => spans.find((span) => span.name === name && span.kind === kind) as SentSpan;
  return [of(SERVER), of(CLIENT)];
};

test("each call has a span for the client and one for the server, with the attributes of the convention", async () => {
  const traces = await collector();
  const { gateway, key } = await traced(traces, {
    OTEL_SERVICE_NAME: "team gateway",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc",
  });
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "hello" });
  await client.call("fix__is_error");
  await client.call("fix__fail", { code: -32050 }).catch(() => {});
  await client.call("fix__nothing").catch(() => {});
  await until(() => traces.spans.length >= 7);
  for (const request of traces.requests) expect(otlpProblems(request)).toEqual([]);
  // The check itself reports errors.
  const spoilt = JSON.stringify(traces.requests[0]).replaceAll('"kind":2', '"kind":"SERVER"');
  expect(otlpProblems(JSON.parse(spoilt.replaceAll("traceId", "trace_id"))).length).toBeGreaterThan(2);
  expect(traces.headers[0]).toMatchObject({
    authorization: "Bearer abc",
    "content-type": "application/json",
  });
  expect(JSON.stringify(traces.requests[0])).toContain(
    '{"key":"service.name","value":{"stringValue":"team gateway"}}',
  );
  expect(JSON.stringify(traces.requests)).not.toContain("hello");

  const { spans } = traces;
  const [own, child] = pairOf(spans, "tools/call echo");
  expect(own.about).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "echo",
    "mcp.protocol.version": "2025-11-25",
    "metamcp.endpoint": "aggregate",
    "metamcp.server": "fix",
    "jsonrpc.request.id": "1",
    "network.transport": "tcp",
  });
  expect(child.about["network.transport"]).toBe("pipe");
  expect(child.about).not.toHaveProperty("jsonrpc.request.id");
  expect([child.traceId, child.parentSpanId]).toEqual([own.traceId, own.spanId]);
  expect(own).not.toHaveProperty("parentSpanId");
  expect(spans.map(({ status }) => status?.code)).toEqual([undefined, undefined, 2, 2, 2, 2, 2]);
  const times = [own.startTimeUnixNano, child.startTimeUnixNano, child.endTimeUnixNano, own.endTimeUnixNano];
  // The clocks of both spans are read separately, in milliseconds.
  for (const [n, time] of times.slice(1).entries())
    expect(BigInt(time) + 2_000_000n).toBeGreaterThanOrEqual(BigInt(times[n] ?? 0));
  const errors = spans.filter(({ kind }) => kind === SERVER).map(({ about }) => about["error.type"]);
  expect(errors).toEqual([undefined, "tool_error", "-32050", "-32602"]);
  expect(pairOf(spans, "tools/call fail")[0].about["rpc.response.status_code"]).toBe("-32050");

  const { items } = (await gateway.api("GET", "/sessions")).body;
  expect(own.about["mcp.session.id"]).toBe(items[0].id);
  const [record] = await auditRecords(gateway, `&traceId=${own.traceId}`);
  expect(record).toMatchObject({ tool: "echo", traceId: own.traceId });
});

test("a trace continues from _meta or the HTTP headers, through code, to the server", async () => {
  const taking = await collector();
  const { gateway, key } = await traced(taking);
  const seen = (answer: string) =>
    /"traceparent":"00-(\w{32})-(\w{16})-01"/.exec(answer.replaceAll("\\", ""));
  const header = {
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    tracestate: "vendor=1",
    baggage: "team=a%20b",
  };
  const withMeta = await rawCall(
    gateway,
    key,
    { name: "fix__args", arguments: {}, _meta: { traceparent, tracestate: "mine=2", baggage: "mine=3" } },
    header,
  );
  const byHeader = await rawCall(gateway, key, { name: "fix__args", arguments: {} }, header);
  const rest = await fetch(`${gateway.url}/metamcp/aggregate/api/fix__args`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key, traceparent },
    body: "{}",
  });
  const byRest = await rest.text();
  const broken = await rawCall(
    gateway,
    key,
    { name: "fix__args", arguments: {} },
    { traceparent: "00-zz-1-01", "x-request-id": "of-the-proxy" },
  );
  await until(() => taking.spans.length >= 8);
  const calls = taking.spans.filter(({ kind }) => kind === SERVER);
  const children = taking.spans.filter(({ kind }) => kind === CLIENT);
  expect(calls.map(({ traceId }) => traceId).slice(0, 3)).toEqual([
    PARENT.trace,
    "a".repeat(32),
    PARENT.trace,
  ]);
  expect(calls.map(({ about }) => about["metamcp.request.id"])).toEqual([
    undefined,
    undefined,
    undefined,
    "of-the-proxy",
  ]);
  expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual([
    PARENT.span,
    "b".repeat(16),
    PARENT.span,
    undefined,
  ]);
  for (const [n, answer] of [withMeta, byHeader, byRest, broken].entries())
    expect(seen(answer)?.slice(1)).toEqual([children[n]?.traceId, children[n]?.spanId]);
  for (const text of ["mine=2", "mine=3"]) expect(withMeta).toContain(text);
  for (const text of ["vendor=1", "team=a%20b"]) expect(byHeader).toContain(text);
  expect(calls[1]?.traceState).toBe("vendor=1");

  const client = await teamClient(gateway, "meta", { key });
  const before = taking.spans.length;
  await client.call("mcp_execute", { code: 'return await tools.fix.echo({ message: "x" })' });
  const inner = await until(() => {
    const spans = taking.spans.slice(before);
    return spans.length >= 3 ? spans : undefined;
  });
  const outer = inner.find(({ name }) => name === "tools/call mcp_execute");
  const within = inner.find(({ name, kind }) => name === "tools/call echo" && kind !== CLIENT);
  expect([within?.traceId, within?.parentSpanId, within?.about["metamcp.via"]]).toEqual([
    outer?.traceId,
    outer?.spanId,
    "code",
  ]);
});

test("an unsampled call is not sent to the collector, and the server is told so", async () => {
  const taking = await collector();
  const { gateway, key } = await traced(taking, { OTEL_TRACES_SAMPLER: "always_off" });
  const off = await rawCall(gateway, key, { name: "fix__args", arguments: {} });
  expect(off.replaceAll("\\", "")).toMatch(/"traceparent":"00-\w{32}-\w{16}-00"/);
  const unsampled = { traceparent: traceparent.replace(/01$/, "00") };
  await rawCall(gateway, key, { name: "fix__args", arguments: {} }, unsampled);
  await rawCall(gateway, key, { name: "fix__args", arguments: {} }, { traceparent });
  await until(() => taking.spans.length === 2);
  expect(new Set(taking.spans.map(({ traceId }) => traceId))).toEqual(new Set([PARENT.trace]));
});

const lostSpans = async ({ url }: TeamGateway) =>
  Number(/^metamcp_spans_lost_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

test("a busy collector gets the same spans again, a rejecting one does not", async () => {
  const taking = await collector();
  const { gateway, key } = await traced(taking);
  const client = await teamClient(gateway, "aggregate", { key });
  const takes = taking.answer;
  taking.answer = (_, response) => void response.writeHead(503, { "retry-after": "1" }).end();
  await client.call("fix__echo", { message: "x" });
  await until(() => taking.requests.length > 0);
  taking.answer = takes;
  await until(() => taking.requests.length > 1);
  expect(taking.requests[1]).toEqual(taking.requests[0]);
  expect(await lostSpans(gateway)).toBe(0);

  taking.answer = (_, response) => void response.writeHead(400).end();
  await client.call("fix__echo", { message: "x" });
  await until(async () => (await lostSpans(gateway)) === 2);
  taking.answer = (_, response) =>
    void response.end('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}');
  await client.call("fix__echo", { message: "x" });
  await until(async () => (await lostSpans(gateway)) === 3);
  const sent = taking.requests.length;
  taking.answer = takes;
  await client.call("fix__echo", { message: "x" });
  await until(() => taking.requests.length === sent + 1);
});

test("a collector that hangs or never ends its answer delays no call", async () => {
  const taking = await collector();
  const { gateway, key } = await traced(taking, { OTEL_EXPORTER_OTLP_TIMEOUT: "1000" });
  const client = await teamClient(gateway, "aggregate", { key });
  taking.answer = () => {};
  for (let i = 0; i < 50; i++) expect(await client.call("fix__echo", { message: "x" })).toBe("x");
  await until(() => taking.requests.length > 1);
  const takes = taking.answer;
  taking.answer = (_, response) => {
    const endless = setInterval(() => response.write("x".repeat(65_536)), 1);
    response.writeHead(200).once("close", () => clearInterval(endless));
  };
  for (let i = 0; i < 50; i++) expect(await client.call("fix__echo", { message: "x" })).toBe("x");
  await until(() => taking.spans.length >= 200);
  taking.answer = takes;
  await gateway.stop();
});

test("without a collector nothing is traced, and an invalid one prevents the start", async () => {
  const { gateway, key } = await traced({ url: "" });
  expect(await rawCall(gateway, key, { name: "fix__args", arguments: {} }, { traceparent })).not.toContain(
    "traceparent",
  );
  await expect(traced({ url: "collector:4318" })).rejects.toThrow(
    /OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318"/,
  );
  const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
  await expect(traced({ url: "http://127.0.0.1:4317" }, grpc)).rejects.toThrow(/4318/);
});
