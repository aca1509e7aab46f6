/**
 * A gateway behind a real nginx with the lines of docs/proxies.md: TLS, both official SDKs, streams,
 * addresses, Host and Origin. `proxy_read_timeout` is 2 s instead of 60 s, so that silent streams are tested
 * in seconds.
 */
import { describe, expect, test } from "vitest";
import { fetchThrough } from "../../support/fetch-through.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { nginxFront, noNginx } from "../../support/nginx.ts";
import {
  type CallOptions,
  type TeamGateway,
  teamClient,
  teamGateway,
  WAYS,
} from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const READ_TIMEOUT = "proxy_read_timeout 2s;";
/** A silent call must outlive the timeout of nginx. */
const SILENT_MS = 4_000;

interface Behind {
  readonly gateway: TeamGateway;
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly key: string;
  readonly port: number;
  readonly ca: string;
  /** Connects an official client through nginx. */
  connect(way?: (typeof WAYS)[number], endpoint?: string): ReturnType<typeof teamClient>;
}

async function behindNginx({
  heartbeat = "400",
  more = READ_TIMEOUT,
}: {
  heartbeat?: string;
  more?: string;
} = {}): Promise<Behind> {
  const folder = temp();
  const front = await nginxFront(folder);
  const { publicUrl: url, port, ca } = front;
  const flags = ["--public-url", url, "--trust-proxy", "127.0.0.1", "--access-log", "--heartbeat", heartbeat];
  const gateway = await teamGateway(folder, { flags });
  const endpoint = { namespaces: ["team"], surface: "aggregate" };
  const document = {
    version: 1,
    servers: { a: fixture() },
    namespaces: { team: { servers: { a: {} } } },
    endpoints: {
      one: endpoint,
      stateless: { ...endpoint, stateless: true },
      json: { ...endpoint, jsonResponse: true },
    },
  };
  expect((await gateway.api("POST", "/config/apply", { document })).status).toBe(200);
  await front.start(gateway.url, more);
  const key = await gateway.key();
  const through = fetchThrough(front);
  return {
    gateway,
    url,
    fetch: through,
    key,
    port,
    ca,
    connect: (way = "streamable", endpoint = "one") =>
      teamClient({ url }, endpoint, { key, way, fetch: through }),
  };
}

const request = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const INITIALIZE = request(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

/** Opens the event stream of a new session. The result grows while the stream is open. */
async function openStream({ fetch, url, key }: Behind): Promise<{ text: string; ended: boolean }> {
  const at = `${url}/metamcp/one/mcp`;
  const headers: Record<string, string> = { ...HEADERS, "x-api-key": key };
  const begun = await fetch(at, { method: "POST", headers, body: INITIALIZE });
  await begun.text();
  headers["mcp-session-id"] = begun.headers.get("mcp-session-id") ?? "";
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  await (await fetch(at, { method: "POST", headers, body })).text();
  await (await fetch(at, { method: "POST", headers, body: request(1, "tools/list") })).text();
  const stream = await fetch(at, { headers });
  expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const received = { text: "", ended: false };
  void (async () => {
    for await (const part of stream.body ?? []) received.text += Buffer.from(part).toString();
  })()
    .catch(() => {})
    .finally(() => {
      received.ended = true;
    });
  return received;
}

/** Changes the list of tools. */
const hideEcho = ({ gateway }: Behind) =>
  gateway.api("POST", "/namespaces/team/tools", { set: [{ server: "a", tool: "echo", disabled: true }] });

/** A call that reports once and then hangs, so that the report cannot arrive together with the result. */
async function reportsWhileRunning(behind: Behind, way: (typeof WAYS)[number]): Promise<void> {
  const client = await behind.connect(way);
  const ending = new AbortController();
  let reports = 0;
  const options: CallOptions = { signal: ending.signal, onprogress: () => (reports += 1) };
  const call = client.call("a__progress", { n: 1, hang: true }, options).catch(() => "ended");
  await until(() => reports === 1, { what: "a report of the running call" });
  ending.abort();
  await call;
}

describe.skipIf(noNginx)(`behind nginx${noNginx === undefined ? "" : ` (skipped: ${noNginx})`}`, () => {
  test("official clients of both SDKs, with silent calls and reports of running calls", async () => {
    const behind = await behindNginx();
    const use = async (way: (typeof WAYS)[number], endpoint?: string): Promise<void> => {
      const client = await behind.connect(way, endpoint);
      expect(await client.tools()).toContain("a__echo");
      expect(await client.call("a__echo", { message: way })).toBe(way);
      expect(await client.call("a__sleep", { ms: SILENT_MS })).toBe(`slept ${SILENT_MS}`);
      if (endpoint === undefined) await reportsWhileRunning(behind, way);
    };
    await Promise.all([...WAYS.map((way) => use(way)), use("streamable", "stateless")]);
  });

  test("a changed list arrives on a stream that was silent for longer than the timeout of nginx", async () => {
    const behind = await behindNginx();
    const stream = await openStream(behind);
    await until(() => stream.ended || stream.text.split("\n: \n").length > 8, { what: "eight heartbeats" });
    expect(stream.ended).toBe(false);
    expect((await hideEcho(behind)).status).toBe(200);
    await until(() => stream.ended || stream.text.includes("notifications/tools/list_changed"));
    expect(stream.ended).toBe(false);
  });

  test("without a heartbeat nginx ends a silent stream, so the tests above can fail", async () => {
    const stream = await openStream(await behindNginx({ heartbeat: "60s" }));
    await until(() => stream.ended, { what: "the end of the silent stream" });
  });

  test("a configuration that ignores X-Accel-Buffering works with proxy_buffering off", async () => {
    const behind = await behindNginx({
      more: "proxy_ignore_headers X-Accel-Buffering; proxy_buffering off;",
    });
    await reportsWhileRunning(behind, "streamable");
    const stream = await openStream(behind);
    await hideEcho(behind);
    await until(() => stream.text.includes("notifications/tools/list_changed"));
  });

  test("an endpoint with plain JSON must answer within the timeout of nginx", async () => {
    const behind = await behindNginx();
    const headers = { ...HEADERS, "x-api-key": behind.key };
    const call = (ms: number) =>
      behind.fetch(`${behind.url}/metamcp/json/mcp`, {
        method: "POST",
        headers,
        body: request(1, "tools/call", { name: "a__sleep", arguments: { ms } }),
      });
    expect(await (await call(1)).text()).toContain("slept 1");
    expect((await call(SILENT_MS)).status).toBe(504);
  });

  test.runIf(process.platform === "linux")("the address of a client is the one that nginx saw", async () => {
    const { gateway, url, port, ca } = await behindNginx();
    const from = "127.0.0.2";
    const refused = await fetchThrough({ port, ca, from })(`${url}/api/v1/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.9", "x-request-id": "it" },
      body: JSON.stringify({ email: "nobody@example.org", password: "wrong" }),
    });
    expect(refused.status).toBe(401);
    const line = await until(() => gateway.stderr.split("\n").find((one) => one.includes('"request":"it"')));
    expect(JSON.parse(line)).toMatchObject({ address: from, status: 401 });
    const record = await until(
      async () => (await gateway.api("GET", "/audit?kind=login")).body.items[0] as { address: string },
    );
    expect(record.address).toBe(from);
  });

  test("Host and Origin are checked behind nginx, and links name the public address", async () => {
    const { fetch, url, key, gateway } = await behindNginx();
    const ask = (headers: Record<string, string>, at = `${url}/metamcp/one/mcp`) =>
      fetch(at, { method: "POST", headers: { ...HEADERS, ...headers }, body: request(1, "tools/list") });
    const own = { "x-api-key": key };
    expect((await ask(own)).status).toBe(200);
    expect((await ask({ ...own, host: "evil.test" })).status).toBe(403);
    expect((await ask({ ...own, origin: "https://evil.test" })).status).toBe(403);
    const page = await ask({ ...own, origin: url });
    expect([page.status, page.headers.get("access-control-allow-origin")]).toEqual([200, url]);
    // The metadata that OAuth clients follow.
    const challenge = (await ask({})).headers.get("www-authenticate") ?? "";
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
    expect(metadata.startsWith(`${url}/`)).toBe(true);
    const described = (await (await fetch(metadata)).json()) as Record<string, unknown>;
    expect(described).toMatchObject({ resource: `${url}/metamcp/one/mcp`, authorization_servers: [url] });
    // Clients on the machine itself need no proxy.
    expect((await globalThis.fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  test("messages may have as many bytes as without a proxy", async () => {
    const { fetch, url, key } = await behindNginx();
    const send = async (bytes: number): Promise<number> => {
      const params = { name: "a__echo", arguments: { message: "x".repeat(bytes) } };
      const body = request(1, "tools/call", params);
      const headers = { ...HEADERS, "x-api-key": key };
      return (await fetch(`${url}/metamcp/one/mcp`, { method: "POST", headers, body })).status;
    };
    expect(await send(4 * 1024 * 1024 - 1_000)).toBe(200);
    expect(await send(4 * 1024 * 1024 + 1_000)).toBe(413);
  });
});
