/** Streamable HTTP: how sessions begin, belong to a client and end, and invalid requests. */
import { expect, test } from "vitest";
import { httpGateway, messages } from "../../support/http-gateway.ts";
import { gone } from "../../support/processes.ts";
import { rawHttp, requestText } from "../../support/raw-http.ts";
import { fixture, temp } from "../../support/temp.ts";

const call = (tool: string, args: object = {}, _meta?: object) => ({
  method: "tools/call",
  params: { name: "mcp_call", arguments: { server: "a", tool, args }, _meta },
});

test("a session begins with a valid handshake, is identified by its id only, and cannot be used after its end", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const server = await httpGateway(folder);

  expect((await server.post({ id: 1, method: "tools/list" }, { "mcp-session-id": "guess" })).status).toBe(
    404,
  );
  const failed = await server.post({ id: 1, method: "initialize", params: { capabilities: 3 } });
  expect(failed.headers.get("mcp-session-id")).toBeNull();
  expect((await messages(failed))[0]).toMatchObject({ id: 1, error: { code: -32602 } });

  const session = await server.open();
  const other = await server.open();
  expect(session["mcp-session-id"]).toMatch(/^[0-9a-f]{32}$/);
  expect(session).not.toEqual(other);
  const [answer] = await messages(await server.post({ id: 2, ...call("echo", { message: "hi" }) }, session));
  expect(answer).toMatchObject({ id: 2, result: { content: [{ text: "hi" }] } });

  const ended = await fetch(server.url, { method: "DELETE", headers: session });
  expect(ended.status).toBe(204);
  expect((await server.post({ id: 3, method: "tools/list" }, session)).status).toBe(404);
  expect((await server.post({ id: 3, method: "tools/list" }, other)).status).toBe(200);

  expect(await server.stop()).toMatchObject({ code: 0 });
  await gone(journal.pids());
});

test("invalid requests get a status and an error and create nothing", async () => {
  const folder = temp();
  folder.writeConfig({});
  const server = await httpGateway(folder);
  const session = await server.open();
  const status = async (body: unknown, headers: Record<string, string> = session): Promise<number> => {
    const response = await server.post(body, headers);
    const text = await response.text();
    if (text !== "")
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", error: { message: expect.any(String) } });
    return response.status;
  };
  expect(await status("{")).toBe(400);
  expect(await status("")).toBe(400);
  expect(await status('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')).toBe(400);
  expect(await status("{}")).toBe(400);
  expect(await status({ id: 1, method: "ping" }, { ...session, "content-type": "text/plain" })).toBe(415);
  expect(await status({ id: 1, method: "ping" }, { ...session, accept: "image/png" })).toBe(406);
  expect(await status({ id: 1, method: "ping" }, { ...session, "mcp-protocol-version": "1999-01-01" })).toBe(
    400,
  );
  expect(await status(`{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(5_000_000)}"}`)).toBe(413);
  expect(await status({ id: 1, method: "ping" }, { ...session, origin: "https://evil.example" })).toBe(403);
  for (const method of ["PUT", "PATCH"]) {
    expect((await fetch(server.url, { method, headers: session })).status).toBe(405);
  }
  expect((await fetch(new URL("/nowhere", server.url))).status).toBe(404);
  expect((await fetch(server.url, { headers: session })).status).toBe(406);
  // The session still works.
  expect((await server.post({ id: 9, method: "ping" }, session)).status).toBe(200);
  await server.stop();
});

test("a Host with another name or port is rejected unless it is listed", async () => {
  const folder = temp();
  folder.writeConfig({});
  const statusOf = async ({ url }: { url: string }, host: string): Promise<number | undefined> =>
    (await rawHttp(url, requestText(url, { headers: { host } }), { responses: 1 })).statuses[0];

  const server = await httpGateway(folder);
  const { port } = new URL(server.url);
  expect(await statusOf(server, "evil.example")).toBe(403);
  expect(await statusOf(server, `evil.example:${port}`)).toBe(403);
  expect(await statusOf(server, "localhost:1")).toBe(403);
  expect(await statusOf(server, `localhost:${port}`)).toBe(400);
  await server.stop();

  const forwarded = await httpGateway(folder, "--allow-host", "localhost");
  expect(await statusOf(forwarded, "localhost:1")).toBe(400);
  expect(await statusOf(forwarded, "127.0.0.1:1")).toBe(403);
  await forwarded.stop();
});

test.each([[[]], [["--json-response"]]])(
  "a request without a session is served where it needs none, and initialize always opens a session (%j)",
  async (flags) => {
    const folder = temp();
    folder.writeConfig({ a: fixture() });
    const server = await httpGateway(folder, ...flags);
    const answer = async (body: object, headers = {}) => {
      const response = await server.post(body, headers);
      return {
        status: response.status,
        text: await response.text(),
        id: response.headers.get("mcp-session-id"),
      };
    };
    expect((await answer({ id: 1, ...call("echo", { message: "hi" }) })).text).toContain("hi");
    for (const method of ["ping", "tools/list", "resources/list"])
      expect(await answer({ id: 1, method })).toMatchObject({
        status: 200,
        text: expect.stringContaining("result"),
        id: null,
      });
    expect((await answer({ method: "notifications/initialized" })).status).toBe(202);
    for (const method of ["resources/subscribe", "logging/setLevel"])
      expect(await answer({ id: 1, method, params: {} })).toMatchObject({
        status: 400,
        text: expect.stringContaining(`${method} needs a session`),
      });
    const asked = await answer({ id: 1, ...call("ask") });
    expect(asked.text).toMatch(/without a session|cannot/);

    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const { "mcp-session-id": known } = await server.open();
    for (const given of [known, "stale"]) {
      const begun = await answer({ id: 1, method: "initialize", params }, { "mcp-session-id": given });
      expect([begun.status, begun.id !== null && begun.id !== given]).toEqual([200, true]);
    }
    expect((await answer({ id: 1, method: "ping" }, { "mcp-session-id": known })).status).toBe(200);
    expect((await answer({ id: 1, method: "ping" }, { "mcp-session-id": "stale" })).status).toBe(404);
    await server.stop();
  },
);

test("progress is streamed before the answer, a session has one standing stream, and a broken stream can be resumed", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const server = await httpGateway(folder);
  const session = await server.open();
  const streamed = await server.post({ id: 1, ...call("progress", { n: 2 }, { progressToken: 7 }) }, session);
  const events = await streamed.text();
  const ids = [...events.matchAll(/^id: (\S+)$/gm)].map((match) => match[1] as string);
  expect(ids.length).toBeGreaterThanOrEqual(3);
  expect(events.indexOf('"progress":2')).toBeGreaterThan(0);
  expect(events.indexOf('"result"')).toBeGreaterThan(events.indexOf('"progress":2'));

  const resumed = await fetch(server.url, {
    headers: { ...session, accept: "text/event-stream", "last-event-id": ids[1] as string },
  });
  const replayed = await messages(resumed);
  expect(replayed.map((message) => message["method"] ?? "result")).toEqual([
    "notifications/progress",
    "result",
  ]);
  const foreign = await server.open();
  const stolen = await fetch(server.url, {
    headers: { ...foreign, accept: "text/event-stream", "last-event-id": ids[0] as string },
  });
  expect(stolen.status).toBe(400);

  const abort = new AbortController();
  const listen = () =>
    fetch(server.url, { headers: { ...session, accept: "text/event-stream" }, signal: abort.signal });
  expect((await listen()).status).toBe(200);
  expect((await listen()).status).toBe(409);
  abort.abort();
  await server.stop();
});

test("the stream of a cancelled request ends, and the child receives the cancellation", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const server = await httpGateway(folder);
  const session = await server.open();
  const waiting = server.post({ id: "s", ...call("sleep", { ms: 600_000 }) }, session);
  await journal.until(() => journal.events().some(({ tool }) => tool === "sleep"));
  await server.post({ method: "notifications/cancelled", params: { requestId: "s" } }, session);
  await (await waiting).text();
  await journal.until(() => journal.events("cancelled").length > 0);
  await server.stop();
});

test("a token protects every path except health, and --stateless needs no session", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), broken: null });
  const server = await httpGateway(
    { ...folder, env: { ...folder.env, METAMCP_TOKEN: "t0ken" } },
    "--stateless",
  );
  expect((await server.post({ id: 1, method: "ping" })).status).toBe(401);
  const headers = { authorization: "Bearer t0ken" };
  const [answer] = await messages(await server.post({ id: 1, ...call("echo", { message: "x" }) }, headers));
  expect(answer).toMatchObject({ id: 1, result: { content: [{ text: "x" }] } });
  expect((await fetch(server.url, { headers })).status).toBe(405);
  const ready = await fetch(new URL("/readyz", server.url));
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { ready: true, down: [{ server: "broken" }] },
  ]);
  // The reason may contain output of the server, so it is shown only with the token.
  expect(await (await fetch(new URL("/readyz", server.url))).text()).not.toContain("reason");
  expect(await (await fetch(new URL("/readyz", server.url), { headers })).text()).toContain("reason");
  const rebound = "GET /readyz HTTP/1.1\r\nhost: evil.example\r\nauthorization: Bearer t0ken\r\n\r\n";
  expect((await rawHttp(server.url, rebound, { responses: 1 })).text).toContain('"down":[]');
  expect((await fetch(new URL("/healthz", server.url))).status).toBe(200);
  await server.stop();
});

test("wrong tokens are logged and limited, and the right one always passes", async () => {
  const folder = temp();
  folder.writeConfig({});
  const gateway = await httpGateway(
    { ...folder, env: { ...folder.env, METAMCP_TOKEN: "t0ken" } },
    "--log-level",
    "info",
  );
  const ask = async (headers: Record<string, string>): Promise<Response> =>
    await gateway.post({ id: 1, method: "ping" }, headers);
  const wrong = { authorization: "Bearer wrong" };
  for (let guess = 0; guess < 50; guess += 1) expect((await ask(wrong)).status).toBe(401);
  const limited = await ask(wrong);
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  // A client that has no token yet must learn that it needs one.
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: "Bearer t0ken" })).status).toBe(200);
  expect(gateway.stderr).toContain("unknown or expired token refused, from 127.0.0.1");
  await gateway.stop();
  expect(gateway.stderr).toContain("50 more unknown or expired tokens refused, from 127.0.0.1");
  expect(gateway.stderr).not.toContain("wrong");
});

test("a preflight request of an allowed origin succeeds without a token", async () => {
  const folder = temp();
  folder.writeConfig({});
  const server = await httpGateway(
    { ...folder, env: { ...folder.env, METAMCP_TOKEN: "t0ken" } },
    "--allow-origin",
    "https://app.example",
  );
  const preflight = (origin: string): Promise<Response> =>
    fetch(server.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });
  const listed = await preflight("https://app.example");
  expect(listed.status).toBe(204);
  expect(listed.headers.get("access-control-allow-origin")).toBe("https://app.example");
  expect(listed.headers.get("access-control-allow-headers")).toContain("authorization");
  const foreign = await preflight("https://evil.example");
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  await server.stop();
});

test("an idle session ends after its timeout, and a session with an open stream does not", async () => {
  const folder = temp();
  folder.writeConfig({});
  const server = await httpGateway(folder, "--session-timeout", "3000");
  const idle = await server.open();
  const listening = await server.open();
  const abort = new AbortController();
  const stream = await fetch(server.url, {
    headers: { ...listening, accept: "text/event-stream" },
    signal: abort.signal,
  });
  expect(stream.status).toBe(200);
  // Each request counts as a use of the session, so the next one comes after the timeout.
  await expect
    .poll(async () => (await server.post({ id: 1, method: "ping" }, idle)).status, {
      timeout: 45_000,
      interval: 4_500,
    })
    .toBe(404);
  expect((await server.post({ id: 1, method: "ping" }, listening)).status).toBe(200);
  abort.abort();
  await server.stop();
});
