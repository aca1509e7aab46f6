/**
 * Streams and sessions over HTTP that end unexpectedly: forged event ids, sockets that close while requests
 * wait, and sessions that end during calls.
 */
import { expect, test } from "vitest";
import { HttpClient } from "../../support/http-client.ts";
import { httpGateway } from "../../support/http-gateway.ts";
import { open, requestText } from "../../support/raw-http.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const ERA_2026 = "2026-07-28";
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": ERA_2026,
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function setUp(flags: string[] = [], ...more: string[]) {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file, ...more) });
  return { gateway: await httpGateway(folder, "--surface", "aggregate", ...flags), journal };
}

const call = (id: number, tool: string, args: object = {}): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: `a__${tool}`, arguments: args },
  });

const era2026 = (url: string, id: number, method: string, params: Record<string, unknown>): string =>
  requestText(url, {
    headers: {
      "mcp-protocol-version": ERA_2026,
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: ENVELOPE } }),
  });

test.each([
  ["streams", []],
  ["plain JSON", ["--json-response"]],
])("a forged event id does not take an answer away from its request (%s)", async (_, flags) => {
  const { gateway, journal } = await setUp(flags);
  const client = await HttpClient.open(gateway);
  await client.tool(1, "a__echo", { message: "warm" });
  const listening = new AbortController();
  const headers = { ...client.session, accept: "text/event-stream" };
  // From here on the session stores events.
  await fetch(gateway.url, { headers, signal: listening.signal });
  const slow = client.tool(2, "a__sleep", { ms: 4_000 });
  await journal.until(() => journal.events("message").some(({ tool }) => tool === "sleep"));
  const forged = [1, 2, 3, 4].map((stream) =>
    fetch(gateway.url, { headers: { ...headers, "last-event-id": `${stream}-0` } }),
  );
  expect((await Promise.all(forged)).at(2)?.status).toBe(400);
  expect((await slow).answer).toMatchObject({ id: 2, result: { content: [{ text: "slept 4000" }] } });
  listening.abort();
  await gateway.stop();
});

test("a stream that waits behind a slow answer ends with its socket", async () => {
  const { gateway, journal } = await setUp();
  const session = await gateway.open();
  const socket = open(gateway.url);
  socket.write(
    requestText(gateway.url, { headers: session, body: call(1, "sleep", { ms: 60_000 }) }) +
      requestText(gateway.url, { method: "GET", headers: session }),
  );
  await journal.until(() => journal.events("message").some(({ tool }) => tool === "sleep"));
  socket.destroy();
  // A session has only one such stream, so a new one is accepted as soon as this one is gone.
  const again = new AbortController();
  await until(
    async () => {
      const headers = { ...session, accept: "text/event-stream" };
      return (await fetch(gateway.url, { headers, signal: again.signal })).status === 200;
    },
    { what: "the end of the stream" },
  );
  again.abort();
  await fetch(gateway.url, { method: "DELETE", headers: session });
  await gateway.stop();
});

test("requests that wait behind others on a socket are cancelled when it closes", async () => {
  const { gateway, journal } = await setUp([], "--resources", "1");
  const socket = open(gateway.url);
  socket.write(
    era2026(gateway.url, 1, "tools/call", { name: "a__hang", arguments: {} }) +
      era2026(gateway.url, 2, "subscriptions/listen", {
        notifications: { resourceSubscriptions: ["fixture://item/0"] },
      }) +
      era2026(gateway.url, 3, "tools/call", { name: "a__sleep", arguments: { ms: 60_000 } }),
  );
  const received = (of: string): boolean =>
    journal.events("message").some(({ tool, method }) => tool === of || method === of);
  await journal.until(() => received("hang") && received("sleep") && received("resources/subscribe"));
  socket.destroy();
  await journal.until(() => journal.events("cancelled").length === 2 && received("resources/unsubscribe"));
  await gateway.stop();
});

test("a session that ends during a call answers it with an error and cancels it at the child", async () => {
  const { gateway, journal } = await setUp();
  const client = await HttpClient.open(gateway);
  const slow = client.tool(1, "a__hang", {});
  await journal.until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  expect((await fetch(gateway.url, { method: "DELETE", headers: client.session })).status).toBe(204);
  expect((await slow).answer).toMatchObject({ error: { message: "the client ended its session" } });
  await journal.until(() => journal.events("cancelled").length === 1);
  await gateway.stop();
  expect(gateway.stderr).not.toContain("bug");
});

test("a session ends after its timeout although the client disconnected during a question", async () => {
  const { gateway, journal } = await setUp(["--session-timeout", "3000"]);
  const client = await HttpClient.open(gateway, { elicitation: {} });
  let hang: (() => void) | undefined;
  const asked = client.tool(1, "a__ask", {}, undefined, {
    onRequest: (request) => {
      hang = () => request.destroy();
    },
    onMessage: () => hang?.(),
  });
  await expect(asked).rejects.toThrow();
  await journal.until(() => journal.events("cancelled").length === 1);
  await gateway.stop();
});

test("a call that takes longer than the session timeout keeps its session", async () => {
  const { gateway } = await setUp(["--session-timeout", "300"]);
  const client = await HttpClient.open(gateway);
  const { answer } = await client.tool(1, "a__sleep", { ms: 1_500 });
  expect(answer).toMatchObject({ result: { content: [{ text: "slept 1500" }] } });
  await gateway.stop();
});

/** Reads until the stream has carried two heartbeats. */
async function readTwoHeartbeats(response: Response): Promise<void> {
  let text = "";
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString();
    if (text.split("\n: \n").length + Number(text.startsWith(": \n")) > 2) return;
  }
  throw new Error(`the stream ended: ${text}`);
}

test("every kind of stream carries heartbeats", async () => {
  const { gateway } = await setUp(["--heartbeat", "200"]);
  const session = await gateway.open();
  const hang = call(1, "hang");
  const stateless = { "mcp-protocol-version": ERA_2026, "mcp-method": "tools/call", "mcp-name": "a__hang" };
  const params = { name: "a__hang", arguments: {}, _meta: ENVELOPE };
  const streams = [
    fetch(gateway.url, { headers: { ...session, accept: "text/event-stream" } }),
    gateway.post(hang, session),
    gateway.post(hang),
    gateway.post({ id: 1, method: "tools/call", params }, stateless),
  ];
  await Promise.all(streams.map(async (stream) => await readTwoHeartbeats(await stream)));
  await gateway.stop();
  const folder = temp();
  folder.writeConfig({});
  const sse = await httpGateway(folder, "--transport", "sse", "--heartbeat", "200");
  await readTwoHeartbeats(await fetch(sse.url));
  await sse.stop();
});
