/**
 * Attacks on the HTTP transport: every request gets a valid status or none and creates nothing, and other
 * clients are not affected.
 */
import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FULL } from "../../support/full.ts";
import { HttpClient } from "../../support/http-client.ts";
import { HEADERS, type HttpGateway, httpGateway, messages } from "../../support/http-gateway.ts";
import { open, type RawAnswer, rawHttp, requestText } from "../../support/raw-http.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** `METAMCP_FUZZ=n` for more runs. */
const FUZZ = Number(process.env["METAMCP_FUZZ"] ?? (FULL ? 300 : 75));
const MB = 1024 * 1024;
const linux = process.platform === "linux";

const message = (id: unknown, method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const call = (id: unknown, tool: string, args: object = {}, _meta?: object): string =>
  message(id, "tools/call", { name: "mcp_call", arguments: { server: "a", tool, args }, _meta });

function sockets({ pid }: HttpGateway): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
function megabytes({ pid }: HttpGateway): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;
}

async function setUp(...flags: string[]) {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) }, { maxResultBytes: 1 << 30 });
  const gateway = await httpGateway(folder, ...flags);
  const honest = async (): Promise<void> => {
    const session = await gateway.open();
    const [answer] = await messages(await gateway.post(call(1, "echo", { message: "honest" }), session));
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: "honest" }] } });
    expect((await fetch(gateway.url, { method: "DELETE", headers: session })).status).toBe(204);
  };
  return { gateway, journal, honest };
}

const token = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);
const line = fc.oneof(fc.stringMatching(/^[ -~]{0,40}$/), fc.string({ unit: "binary", maxLength: 20 }));
const headers = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      "host",
      "origin",
      "content-length",
      "transfer-encoding",
      "content-type",
      "accept",
      "expect",
    ),
    fc.constantFrom(
      "mcp-session-id",
      "mcp-protocol-version",
      "last-event-id",
      "mcp-method",
      "mcp-name",
      "upgrade",
    ),
    token,
  ),
  fc.oneof(
    line,
    fc.constantFrom("localhost", "evil.example", "*/*", "chunked", "gzip, chunked", "-1", "5", "99999999999"),
    fc.constantFrom("2025-11-25", "2026-07-28", "application/json", "0-0", "100-continue", "websocket"),
  ),
  { maxKeys: 6 },
);
const body = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.json().map((json) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${json}}`),
  fc
    .record({ id: fc.jsonValue(), method: token })
    .map((value) => JSON.stringify({ jsonrpc: "2.0", ...value })),
  fc.array(fc.jsonValue(), { maxLength: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    message(1, "ping"),
    message(null, "initialize", {}),
    call(1, "echo", { message: "x" }),
    "{",
  ),
);
const attackOn = (...paths: string[]) =>
  fc.record({
    method: fc.oneof(fc.constantFrom("POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "TRACE"), token),
    path: fc.oneof(fc.constantFrom(...paths, "/", "/healthz", "*"), line),
    headers,
    body,
    cut: fc.option(fc.nat(400), { nil: undefined }),
    times: fc.constantFrom(1, 1, 1, 3),
    end: fc.boolean(),
  });
type Attack = ReturnType<typeof attackOn> extends fc.Arbitrary<infer A> ? A : never;

async function send({ url }: HttpGateway, { cut, times, end, ...request }: Attack): Promise<RawAnswer> {
  const bytes = Buffer.from(requestText(url, request).repeat(times), "latin1").subarray(0, cut);
  const answer = await rawHttp(url, bytes, { end, responses: times, patienceMs: 60 });
  expect(answer.statuses.filter((status) => status >= 500)).toEqual([]);
  return answer;
}

test("random requests get a valid status or none, and create neither a session nor a child", {
  timeout: 120_000,
}, async () => {
  const { gateway, journal, honest } = await setUp();
  const before = linux ? sockets(gateway) : 0;
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(attackOn("/mcp", "/mcp?x=1", "//mcp", "/mcp/../mcp"), async (attack) => {
      const { statuses, text } = await send(gateway, attack);
      for (const status of statuses) seen.add(status);
      expect(text).not.toMatch(/^mcp-session-id/im);
    }),
    { numRuns: FUZZ },
  );
  expect([...seen]).toEqual(expect.arrayContaining([400, 403, 404]));
  expect(journal.pids()).toEqual([]);
  await honest();
  if (linux) await until(() => sockets(gateway) <= before + 12, { what: "the end of the sockets" });
  await gateway.stop();
});

test("random requests to the SSE transport create no child, and messages need their session and content type", {
  timeout: 120_000,
}, async () => {
  const { gateway, journal } = await setUp("--transport", "sse");
  const before = linux ? sockets(gateway) : 0;
  const paths = ["/sse", "/messages", "/messages?sessionId=x", "/messages?sessionId=%00&sessionId="];
  await fc.assert(
    fc.asyncProperty(attackOn(...paths), async (attack) => {
      await send(gateway, attack);
    }),
    { numRuns: Math.ceil(FUZZ / 2) },
  );
  expect(journal.pids()).toEqual([]);
  if (linux) await until(() => sockets(gateway) <= before + 12, { what: "the end of the sockets" });
  const post = (path: string, type: string): Promise<Response> =>
    fetch(new URL(path, gateway.url), {
      method: "POST",
      headers: { "content-type": type },
      body: message(1, "ping"),
    });
  expect((await post("/messages?sessionId=nobody", "application/json")).status).toBe(404);
  const stream = await fetch(gateway.url);
  const reader = stream.body?.getReader();
  const endpoint = /data: (\S+)/.exec(Buffer.from((await reader?.read())?.value ?? "").toString())?.[1] ?? "";
  expect((await post(endpoint, "text/plain")).status).toBe(415);
  expect((await post(endpoint, "application/json")).status).toBe(202);
  expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toContain('"id":1,"result":{}');
  await reader?.cancel();
  await until(async () => (await post(endpoint, "application/json")).status === 404);
  await gateway.stop();
});

test("random messages in a session do not damage it", { timeout: 120_000 }, async () => {
  const { gateway, honest } = await setUp();
  const session = await gateway.open();
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const response = await gateway.post(Buffer.from(text, "latin1").toString("latin1"), session);
      expect([200, 202, 400]).toContain(response.status);
      for (const heard of response.status === 202 ? [] : await messages(response))
        expect(heard).toMatchObject({ jsonrpc: "2.0" });
    }),
    { numRuns: Math.ceil(FUZZ / 3) },
  );
  expect((await gateway.post(message(1, "ping"), session)).status).toBe(200);
  await honest();
  await gateway.stop();
});

test("bodies of 100 MB are rejected without being buffered, with and without content-length", async () => {
  const { gateway, honest } = await setUp();
  const session = await gateway.open();
  await honest();
  const before = linux ? megabytes(gateway) : 0;
  const upload = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve) => {
      const request = httpRequest(
        gateway.url,
        { method: "POST", headers: { ...HEADERS, ...session, ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
          request.destroy();
        },
      );
      request.on("error", () => resolve(-1));
      let left = 100;
      const more = (): void => {
        while (left > 0 && !request.destroyed) {
          left--;
          if (!request.write(Buffer.alloc(MB, "x"))) {
            request.once("drain", more);
            return;
          }
        }
        request.end();
      };
      more();
    });
  expect(await upload({ "content-length": String(100 * MB) })).toBe(413);
  expect(await upload({})).toBe(413);
  if (linux) expect(megabytes(gateway) - before).toBeLessThan(60);
  // The client sends a part of the announced body and disconnects: there is no answer, and nothing is kept.
  const aborted = await rawHttp(
    gateway.url,
    requestText(gateway.url, {
      headers: { ...session, "content-length": String(3 * MB) },
      body: "x".repeat(MB),
    }),
    { patienceMs: 100 },
  );
  expect(aborted.statuses).toEqual([]);
  await honest();
  await gateway.stop();
});

test("half-open sockets, slow requests and pipelines do not affect other clients", async () => {
  const { gateway, honest } = await setUp();
  await honest();
  const before = linux ? sockets(gateway) : 0;
  const hanging = Array.from({ length: 300 }, (_, i) => {
    const socket = open(gateway.url);
    const started = [
      "",
      "POST /mcp HT",
      `POST /mcp HTTP/1.1\r\nhost: ${new URL(gateway.url).host}\r\nx-a: `,
      requestText(gateway.url, { body: "{" }).slice(0, -1),
    ];
    socket.write(started[i % started.length] ?? "");
    return socket;
  });
  if (linux) await until(() => sockets(gateway) > before + 280, { what: "the sockets" });
  await honest();

  const session = await gateway.open();
  const pipeline = Array.from({ length: 100 }, (_, i) =>
    requestText(gateway.url, { headers: session, body: message(i, "ping") }),
  );
  const { text } = await rawHttp(gateway.url, pipeline.join(""), { responses: 100, patienceMs: 15_000 });
  const ids = [...text.matchAll(/"id":(\d+),"result"/g)].map((match) => Number(match[1]));
  expect(ids.slice(0, 99)).toEqual(Array.from({ length: 99 }, (_, i) => i));

  for (const socket of hanging) socket.destroy();
  if (linux) await until(() => sockets(gateway) <= before + 12, { what: "the end of the sockets" });
  await honest();
  await gateway.stop();
});

test("a request id that is still in use is rejected, and the first request is answered", async () => {
  const { gateway, journal } = await setUp();
  const client = await HttpClient.open(gateway);
  const first = client.mcpCall("same", ["a", "sleep"], { ms: 3_000 });
  await journal.until(() => journal.events().some(({ tool }) => tool === "sleep"));
  const others = await Promise.all(
    [1, 2, 3].map(() => client.mcpCall("same", ["a", "echo"], { message: "second" })),
  );
  for (const { answer } of others) expect(answer).toMatchObject({ id: "same", error: { code: -32600 } });
  expect((await first).answer).toMatchObject({ id: "same", result: { content: [{ text: "slept 3000" }] } });
  await gateway.stop();
});

test("a client that disconnects can resume its own stream, but no other", async () => {
  const { gateway } = await setUp();
  const client = await HttpClient.open(gateway);
  const begun = await gateway.post(
    call(1, "progress", { n: 5, ms: 150 }, { progressToken: 1 }),
    client.session,
  );
  const reader = begun.body?.getReader();
  const first = Buffer.from((await reader?.read())?.value ?? "").toString();
  await reader?.cancel();
  const id = /^id: (\S+)$/m.exec(first)?.[1] ?? "";
  const resume = (lastEventId: string, session: Record<string, string>): Promise<Response> =>
    fetch(gateway.url, {
      headers: { ...session, accept: "text/event-stream", "last-event-id": lastEventId },
    });
  expect((await resume(id, await gateway.open())).status).toBe(400);
  expect((await resume("99-0", client.session)).status).toBe(400);
  expect((await resume("; rm -rf", client.session)).status).toBe(400);
  const rest = await messages(await resume(id, client.session));
  expect(rest.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "reported 5" }] } });
  expect(rest.filter(({ method }) => method === "notifications/progress").length).toBeGreaterThan(2);
  // A second replay gives the same events and repeats no call.
  expect(await messages(await resume(id, client.session))).toEqual(rest);
  await gateway.stop();
});

test("a large answer on an open stream arrives completely", async () => {
  const { gateway } = await setUp();
  const client = await HttpClient.open(gateway);
  const { answer } = await client.mcpCall(1, ["a", "big"], { bytes: 20 * MB, ms: 1_500 });
  expect(JSON.stringify(answer?.result)).toHaveLength(20 * MB);
  await gateway.stop();
});

test.runIf(linux)("unread answers do not accumulate in memory", { timeout: 120_000 }, async () => {
  const { gateway, journal, honest } = await setUp();
  await honest();
  const session = await gateway.open();
  const [memory, open_] = [megabytes(gateway), sockets(gateway)];
  // 400 MB of answers that the client does not read.
  const lazy = Array.from({ length: 50 }, (_, i) => {
    const socket = open(gateway.url).pause();
    socket.write(requestText(gateway.url, { headers: session, body: call(i, "big", { bytes: 8 * MB }) }));
    return socket;
  });
  const asked = (): number => journal.events().filter(({ tool }) => tool === "big").length;
  await until(() => asked() > 40, { within: 60_000, what: "the calls" });
  // The connections that had the longest time to read are closed.
  await until(() => sockets(gateway) < open_ + 38, { within: 60_000, what: "that most are cut off" });
  expect(megabytes(gateway) - memory).toBeLessThan(450);
  await honest();
  expect((await gateway.post(message("p", "ping"), session)).status).toBe(200);
  for (const socket of lazy) socket.destroy();
  await until(() => sockets(gateway) < open_ + 10, { what: "the end of the sockets" });
  await gateway.stop();
});
