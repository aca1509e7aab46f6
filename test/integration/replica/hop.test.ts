/**
 * Requests that one replica passes on to another, over the encrypted channel, without a gateway around them.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { ANONYMOUS } from "../../../src/kernel/principal.ts";
import { ChannelAgent, createChannelServer } from "../../../src/replica/channel.ts";
import { Hop } from "../../../src/replica/hop.ts";
import { ReplicaListener } from "../../../src/replica/listener.ts";
import type { Passed } from "../../../src/replica/relayed-answer.ts";
import { forwardedOf } from "../../../src/transport/http/forwarded.ts";
import type { StrayRequest } from "../../../src/transport/http/owners.ts";
import { until } from "../../support/until.ts";

const KEY = Buffer.alloc(32, 7);
const LOST = Buffer.from('{"lost":true}');
const OTHER = "aaaa1111";
const PING_MS = 5_000;

class CountingAgent extends ChannelAgent {
  connections = 0;
  last: Socket | undefined;

  override createConnection(...options: Parameters<ChannelAgent["createConnection"]>) {
    this.connections += 1;
    const socket = super.createConnection(...options);
    this.last = socket;
    return socket;
  }
}

interface FrontOptions extends Partial<StrayRequest> {
  /** Runs before a request is passed on. */
  readonly before?: (hop: Hop, response: ServerResponse) => void;
}

/** A replica that passes everything on to another one, which serves it with `serve`. */
async function pair(serve: RequestListener, options?: FrontOptions) {
  const listener = new ReplicaListener({ key: KEY, self: OTHER, routes: new Map(), serve });
  const address = await listener.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => listener.close());
  return { listener, ...(await front(address, options)) };
}

/** A replica that takes the connection, and nothing from it. */
async function silent(options?: FrontOptions) {
  const sockets: Socket[] = [];
  const server = createChannelServer(KEY, () => {});
  server.on("upgrade", (_, socket: Socket) => {
    socket.on("error", () => {});
    socket.pause().write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n");
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const die = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  onTestFinished(die);
  const { port } = server.address() as AddressInfo;
  return { die, sockets, ...(await front(`127.0.0.1:${port}`, options)) };
}

/** Passes everything on to this address. */
async function front(address: string, { before, ...more }: FrontOptions = {}) {
  const agent = new CountingAgent(KEY, "bbbb2222");
  const hop = new Hop({ agent, self: "bbbb2222", addressOf: () => "203.0.113.9" });
  const passed: Passed[] = [];
  const server = createServer((asked, response) => {
    const parts: Buffer[] = [];
    asked.on("data", (part: Buffer) => parts.push(part));
    asked.on("end", () => {
      const received = { request: asked, response, principal: ANONYMOUS };
      const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
      const stray = { received, id: "", body, harmless: false, lost: () => LOST, ...more };
      before?.(hop, response);
      void hop.pass(stray, { id: OTHER, address }).then((one) => {
        passed.push(one);
        if (one.as !== "answered") response.writeHead(599).end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    hop.close();
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { hop, agent, passed, url: `http://127.0.0.1:${port}/metamcp/team/mcp` };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of message) text += part;
  return text;
}

test("passes method, path, headers and body on as they came, and the answer back", async () => {
  const { url, hop } = await pair((asked, response) => {
    const { method, url: path, headers } = asked;
    const { address, from } = forwardedOf(asked) ?? {};
    void textOf(asked).then((body) => {
      response.setHeader("x-both", ["a", "b"]);
      response.writeHead(201, { "content-type": "application/json" });
      response.end(JSON.stringify({ method, path, headers, body, address, from }));
    });
  });
  const headers = {
    "x-api-key": "k\u00e9y",
    "x-empty": "",
    origin: "http://a",
    "metamcp-replica-from": "cccc",
  };
  const response = await fetch(`${url}?a=b`, { method: "PUT", headers, body: "some \u20ac" });
  const got = (await response.json()) as { headers: object };
  expect([response.status, response.headers.get("x-both")]).toEqual([201, "a, b"]);
  expect(got).toMatchObject({ method: "PUT", path: "/metamcp/team/mcp?a=b", body: "some \u20ac" });
  expect(got).toMatchObject({ address: "203.0.113.9", from: "bbbb2222" });
  expect(got.headers).toMatchObject({ "x-api-key": "k\u00e9y", "x-empty": "", "content-length": "8" });
  expect(Object.keys(got.headers).filter((name) => /origin|replica|connection/.test(name))).toEqual([]);
  expect([hop.passed, hop.relaying]).toEqual([1, 0]);
});

test("many requests at once use one connection", async () => {
  const { url, agent } = await pair((asked, response) => {
    setImmediate(() => response.end(asked.url));
  });
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => await (await fetch(`${url}?${n}`)).text()),
  );
  expect(answers).toEqual(answers.map((_, n) => `/metamcp/team/mcp?${n}`));
  expect(agent.connections).toBe(1);
});

test("an event stream arrives as it is written; its client leaves, and the other replica hears of it", async () => {
  let stream: ServerResponse | undefined;
  let closed = false;
  const { url, hop } = await pair((_, response) => {
    stream = response;
    response.once("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  });
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  const reader = response.body?.getReader();
  for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
    stream?.write(event);
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(event);
  }
  expect(hop.relaying).toBe(0);
  leaving.abort();
  await until(() => closed, { what: "the other replica hears of it" });
});

test("a client that leaves before it is answered ends its request everywhere", async () => {
  let [begun, closed] = [false, false];
  const { url, passed } = await pair((_, response) => {
    begun = true;
    response.once("close", () => {
      closed = true;
    });
  });
  const leaving = new AbortController();
  const left = expect(fetch(url, { signal: leaving.signal })).rejects.toThrow();
  await until(() => begun, { what: "the request arrives" });
  leaving.abort();
  await left;
  await until(() => closed && passed.length === 1, { what: "both replicas hear of it" });
  expect(passed).toEqual([{ as: "answered" }]);
});

test("a client that does not read stops the answer at its source, and not the answers of others", async () => {
  const block = Buffer.alloc(1024 * 1024, "x");
  let left = 64;
  const { url } = await pair((asked, response) => {
    if (asked.url?.endsWith("small")) return void response.end("small");
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!response.write(block)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const slow = await new Promise<IncomingMessage>((resolve) => {
    request(url, resolve).end();
  });
  slow.pause();
  const small = async (): Promise<string> => await (await fetch(`${url}?small`)).text();
  // Each round trip gives the owner time to write on, if nothing held it back.
  for (let n = 0; n < 50; n++) expect(await small()).toBe("small");
  expect(left).toBeGreaterThan(20);
  let bytes = 0;
  for await (const part of slow) bytes += part.length;
  expect([bytes, left]).toEqual([64 * block.length, 0]);
});

test("a request whose replica dies before it answers is not sent again", async () => {
  let served = 0;
  const { url, listener, passed } = await pair((_, response) => {
    served += 1;
    if (served === 1) response.end("first");
    else void listener.close();
  });
  expect(await (await fetch(url, { method: "POST", body: "{}" })).text()).toBe("first");
  const response = await fetch(url, { method: "POST", body: "{}" });
  expect([response.status, await response.text(), served]).toEqual([200, String(LOST), 2]);
  expect(passed.at(-1)).toEqual({ as: "answered" });
  // Nothing listens there any more, so nothing was sent.
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(599);
  expect(passed.at(-1)).toEqual({ as: "unreachable", refuses: true });
  expect(served).toBe(2);
});

test("a harmless request whose replica dies may be sent again", async () => {
  const { url, listener, passed } = await pair(() => void listener.close(), { harmless: true });
  expect((await fetch(url)).status).toBe(599);
  expect(passed).toEqual([{ as: "unreachable", refuses: false }]);
});

test("an event stream that breaks off ends with the lost answer, another answer breaks off", async () => {
  const { url } = await pair((asked, response) => {
    const isStream = asked.url?.endsWith("stream");
    response.writeHead(200, isStream ? { "content-type": "text/event-stream" } : { "content-length": 100 });
    response.write("data: 1\n\n");
    setImmediate(() => response.destroy());
  });
  const text = await (await fetch(`${url}?stream`)).text();
  expect(text).toBe(`data: 1\n\ndata: ${LOST}\n\n`);
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
});

test("a replica that is gone answers no request any more", async () => {
  const { url, hop } = await pair((asked) => {
    if (asked.method === "POST") setImmediate(() => hop.gone(OTHER, { stopped: false }));
  });
  expect(await (await fetch(url, { method: "POST", body: "{}" })).text()).toBe(String(LOST));
});

test("a request that has not left when the connection breaks may be sent again", async () => {
  const breaking = { now: false };
  const { url } = await pair((_, response) => void response.end("first"), {
    before: (hop) => {
      // Just before the request would leave. The connection is closed only after that.
      if (breaking.now) setImmediate(() => setImmediate(() => hop.gone(OTHER, { stopped: false })));
    },
  });
  expect(await (await fetch(url, { method: "POST", body: "{}" })).text()).toBe("first");
  breaking.now = true;
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(599);
});

test("requests for a replica that does not read wait here, and are not lost with it", async () => {
  let passing = 0;
  const { url, agent, die } = await silent({
    before: () => {
      passing += 1;
    },
  });
  const body = Buffer.alloc(4 * 1024 * 1024);
  const posts = Array.from({ length: 12 }, async () => (await fetch(url, { method: "POST", body })).status);
  await until(() => passing === posts.length, { what: "all requests" });
  await until(() => (agent.last?.bytesWritten ?? 0) > 1024 * 1024, { what: "the first of them leaves" });
  die();
  const statuses = await Promise.all(posts);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => status === 599).length).toBeGreaterThan(3);
});

test("a replica that gives no sign of life while it has a request is given up, a slow one is not", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, agent } = await silent();
  let lost: string | undefined;
  void fetch(url, { method: "POST", body: "{}" }).then(async (answer) => {
    lost = await answer.text();
  });
  await until(() => agent.last !== undefined, { what: "the connection" });
  await until(() => vi.advanceTimersByTime(PING_MS) && lost !== undefined, { what: "an answer" });
  expect(lost).toBe(String(LOST));

  let slow: ServerResponse | undefined;
  const other = await pair((_, response) => {
    slow = response;
  });
  const answer = fetch(other.url, { method: "POST", body: "{}" });
  await until(() => slow !== undefined, { what: "the request arrives" });
  for (let n = 0; n < 10; n++) {
    const before = other.agent.last?.bytesRead ?? 0;
    vi.advanceTimersByTime(PING_MS);
    await until(() => (other.agent.last?.bytesRead ?? 0) > before, { what: "a sign of life" });
  }
  slow?.end("late");
  expect(await (await answer).text()).toBe("late");
});

test("an answer that cannot be passed on ends its own request only", async () => {
  const held: ServerResponse[] = [];
  const { url } = await pair((_, response) => void held.push(response), {
    before: (_, response) => {
      if (response.req.url?.endsWith("begun")) response.writeHead(200).flushHeaders();
    },
  });
  const good = fetch(url);
  await until(() => held.length === 1, { what: "the first request" });
  const begun = await fetch(`${url}?begun`);
  await until(() => held.length === 2, { what: "the second request" });
  held[1]?.end("second");
  expect(await begun.text()).toContain(String(LOST));
  held[0]?.end("first");
  expect(await (await good).text()).toBe("first");
});

test("a request that is passed on again and again leaves nothing behind", async () => {
  const { hop } = await pair(() => {});
  const server = createServer((asked, response) => {
    const received = { request: asked, response, principal: ANONYMOUS };
    const stray = { received, id: "", body: undefined, harmless: true, lost: () => LOST };
    const before = response.listenerCount("close");
    const pass = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) await hop.pass(stray, { id: "cccc3333", address: "127.0.0.1:1" });
      response.end(String(response.listenerCount("close") - before));
    };
    void pass();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("0");
});
