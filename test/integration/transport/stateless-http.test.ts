/** The stateless era over HTTP: statuses, headers, streams that close, and invalid state. */
import { expect, test } from "vitest";
import { eachMessage, envelope, era2026Headers, era2026Http } from "../../support/eras.ts";
import { type HttpGateway, httpGateway, messages } from "../../support/http-gateway.ts";
import { gone } from "../../support/processes.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Json = Record<string, unknown>;
type Question = { requestState: string; inputRequests: Json };
interface Message {
  readonly result?: Json;
  readonly error?: { readonly code: number };
}
const ABLE = { elicitation: {} };

/** A call of a child's tool as one request of this era. */
function tool(name: string, args: object = {}, more: Json = {}): { method: string; params: Json } {
  const params = {
    name: "mcp_call",
    arguments: { server: "a", tool: name, args },
    _meta: envelope(ABLE),
    ...more,
  };
  return { method: "tools/call", params };
}

async function post(server: HttpGateway, { method, params }: { method: string; params: Json }, id = 1) {
  const response = await server.post({ id, method, params }, era2026Headers(method, params));
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    message: ((await messages(response))[0] ?? {}) as Message,
  };
}

test("invalid requests are rejected with a status and a code, as JSON, with the id of the request", async () => {
  const folder = temp();
  folder.writeConfig({});
  const server = await httpGateway(folder);
  const refused = async (method: string, params: Json, headers: Record<string, string> = {}) => {
    const response = await server.post(
      { id: "own", method, params },
      { ...era2026Headers(method, params), ...headers },
    );
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("mcp-session-id")).toBeNull();
    const [message] = await messages(response);
    expect(message).toMatchObject({ jsonrpc: "2.0", id: "own" });
    return [response.status, (message as Message).error?.code];
  };
  const _meta = envelope({});
  expect(await refused("server/discover", {})).toEqual([400, -32602]);
  expect(await refused("tools/list", { _meta: {} })).toEqual([400, -32602]);
  expect(await refused("tools/list", { _meta }, { "mcp-method": "tools/call" })).toEqual([400, -32020]);
  expect(await refused("tools/list", { _meta }, { "mcp-protocol-version": "2025-11-25" })).toEqual([
    400, -32020,
  ]);
  const later = { ..._meta, "io.modelcontextprotocol/protocolVersion": "2030-01-01" };
  expect(await refused("tools/list", { _meta: later }, { "mcp-protocol-version": "2030-01-01" })).toEqual([
    400, -32022,
  ]);
  for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"])
    expect(await refused(method, { _meta }), method).toEqual([404, -32601]);
  // The surface does not offer this method.
  expect(await refused("prompts/list", { _meta })).toEqual([404, -32601]);

  const named = { "mcp-protocol-version": "2026-07-28" };
  for (const method of ["GET", "DELETE"])
    expect((await fetch(server.url, { method, headers: named })).status).toBe(405);
  expect((await server.post({ id: 1, result: {} }, named)).status).toBe(400);
  expect(
    (await server.post({ method: "notifications/cancelled", params: { requestId: 1 } }, named)).status,
  ).toBe(202);
  // Sessions of the legacy era are not affected, and a session id is ignored in the stateless era.
  const session = await server.open();
  expect((await server.post({ id: 1, method: "tools/list" }, session)).status).toBe(200);
  const both = await server.post(
    { id: 1, method: "tools/list", params: { _meta } },
    {
      ...session,
      ...era2026Headers("tools/list", {}),
    },
  );
  expect((await messages(both))[0]?.["result"]).toMatchObject({ resultType: "complete" });
  await server.stop();
});

test("with --json-response answers are plain JSON, but a listener gets a stream", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const server = await httpGateway(folder, "--json-response", "--stateless");
  const answer = await post(
    server,
    tool("progress", { n: 3 }, { _meta: envelope(ABLE, { progressToken: 1 }) }),
  );
  expect(answer).toMatchObject({
    status: 200,
    type: "application/json",
    message: { result: { resultType: "complete" } },
  });
  const listens = { method: "subscriptions/listen", params: { _meta: envelope({}), notifications: {} } };
  const stop = new AbortController();
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...era2026Headers(listens.method, listens.params),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 9, ...listens }),
    signal: stop.signal,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const received: unknown[] = [];
  await eachMessage(response, (message) => {
    received.push(message);
    stop.abort();
  }).catch(() => {});
  expect(received).toMatchObject([{ method: "notifications/subscriptions/acknowledged" }]);
  await server.stop();
});

test("closing the stream cancels a call, a call that waits for input stays, and a stop does not wait for it", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const server = await httpGateway(folder);
  const stop = new AbortController();
  const request = tool("hang");
  const left = fetch(server.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "*/*",
      ...era2026Headers(request.method, request.params),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...request }),
    signal: stop.signal,
  });
  left.catch(() => {});
  await journal.until(() => journal.events("message").some(({ tool: name }) => name === "hang"));
  stop.abort();
  await journal.until(() => journal.events("cancelled").length === 1);

  const asked = await post(server, tool("ask"));
  expect(asked.message.result).toMatchObject({ resultType: "input_required" });
  expect(journal.events("cancelled")).toHaveLength(1);
  expect(await server.stop()).toMatchObject({ code: 0 });
  await gone(journal.pids());
});

test("request state that was used, forged or issued for another request runs nothing", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const server = await httpGateway(folder);
  const asked = await post(server, tool("ask"));
  const { requestState, inputRequests } = asked.message.result as Question;
  const [name = ""] = Object.keys(inputRequests);
  const inputResponses = { [name]: { action: "accept", content: {} } };
  const code = async (request: ReturnType<typeof tool>): Promise<unknown> =>
    (await post(server, request)).message.error?.code;
  expect(await code(tool("ask", {}, { inputResponses, requestState: `${requestState}A` }))).toBe(-32602);
  expect(await code(tool("ask", { message: "x" }, { inputResponses, requestState }))).toBe(-32602);
  expect(await code(tool("echo", {}, { inputResponses, requestState }))).toBe(-32602);
  const done = await post(server, tool("ask", {}, { inputResponses, requestState }));
  expect(done.message.result).toMatchObject({ structuredContent: { answer: { action: "accept" } } });
  expect(await code(tool("ask", {}, { inputResponses, requestState }))).toBe(-32602);
  expect(journal.events("message").flatMap(({ tool: called }) => called ?? [])).toEqual(["ask"]);
  // Callers with the same capabilities share one child.
  expect(journal.pids()).toHaveLength(1);
  await server.stop();
});

test("a call whose child dies while it waits for input fails when the client returns", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), retry: "never" } });
  const server = await httpGateway(folder);
  let asked = await post(server, tool("ask"));
  for (const pid of journal.pids()) process.kill(pid, "SIGKILL");
  await gone(journal.pids());
  // The question stays open until MetaMCP has noticed the end of the process.
  const back = await until(async () => {
    const { requestState } = asked.message.result as Question;
    asked = await post(server, tool("ask", {}, { requestState }));
    return asked.message.result?.["resultType"] === "input_required" ? undefined : asked;
  });
  expect(back.message.result).toMatchObject({
    resultType: "complete",
    isError: true,
    structuredContent: { error: { code: "server_unavailable" } },
  });
  await server.stop();
});

test("concurrent clients, each with its own child, get the answers to their own questions", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), isolation: "session" } });
  const server = await httpGateway(folder);
  const driver = era2026Http(server, ABLE);
  const names = ["Ada", "Bea", "Cyd", "Dee"];
  const results = await Promise.all(
    names.map((name) =>
      driver.request(
        "tools/call",
        { name: "mcp_call", arguments: { server: "a", tool: "ask", args: { message: name } } },
        ({ params }) => ({ action: "accept", content: { name: params?.["message"] } }),
      ),
    ),
  );
  expect(results.map(({ result }) => result?.["structuredContent"])).toEqual(
    names.map((name) => ({ answer: { action: "accept", content: { name } } })),
  );
  // Each call was a session with its own child.
  await gone(journal.pids());
  expect(journal.pids()).toHaveLength(names.length);
  await server.stop();
});
