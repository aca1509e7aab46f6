/** Requests that one replica passes on to another, over the encrypted channel, without a gateway around them. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ANONYMOUS } from "../../../src/kernel/principal.ts";
import { ChannelAgent } from "../../../src/replica/channel.ts";
import { Hop } from "../../../src/replica/hop.ts";
import { ReplicaListener } from "../../../src/replica/listener.ts";
import type { Passed } from "../../../src/replica/relayed-answer.ts";
import { forwardedOf } from "../../../src/transport/http/forwarded.ts";
import type { StrayRequest } from "../../../src/transport/http/owners.ts";
import { until } from "../../support/until.ts";

const KEY = Buffer.alloc(32, 7);
const LOST = Buffer.from('{"lost":true}');
const OTHER = "aaaa1111";

class CountingAgent extends ChannelAgent {
  connections = 0;

  override createConnection(...options: Parameters<ChannelAgent["createConnection"]>) {
    this.connections += 1;
    return super.createConnection(...options);
  }
}

/** A replica that passes everything on to another one, which serves it with `serve`. */
async function pair(serve: RequestListener, more: Partial<StrayRequest> = {}) {
  const listener = new ReplicaListener({ key: KEY, self: OTHER, routes: new Map(), serve });
  const address = await listener.listen({ host: "127.0.0.1", port: 0 });
  const agent = new CountingAgent(KEY, "bbbb2222");
  const hop = new Hop({ agent, self: "bbbb2222", addressOf: () => "203.0.113.9" });
  const passed: Passed[] = [];
  const front = createServer((asked, response) => {
    const parts: Buffer[] = [];
    asked.on("data", (part: Buffer) => parts.push(part));
    asked.on("end", () => {
      const received = { request: asked, response, principal: ANONYMOUS };
      const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
      const stray = { received, id: "", body, harmless: false, lost: () => LOST, ...more };
      void hop.pass(stray, { id: OTHER, address }).then((one) => {
        passed.push(one);
        if (one.as !== "answered") response.writeHead(599).end();
      });
    });
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    hop.close();
    agent.destroy();
    front.close();
    front.closeAllConnections();
    await listener.close();
  });
  const { port } = front.address() as AddressInfo;
  return { hop, agent, listener, passed, url: `http://127.0.0.1:${port}/metamcp/team/mcp` };
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
