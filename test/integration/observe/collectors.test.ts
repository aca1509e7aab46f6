/**
 * Trace collectors that misbehave: each answer is judged by its status, no request outlives its timeout, and
 * no other host is contacted.
 */
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { CollectorBusy, otlpSender } from "../../../src/observe/traces/otlp.ts";
import { until } from "../../support/until.ts";

const MB = 1_048_576;
const page = (text: string, spans = 2) => ({ bytes: Buffer.from(text), spans });
const SHORT = [page('{"name":"a"},{"name":"b"}'), page('{"name":"ü"}', 1)];
const LARGE = Array.from({ length: 16 }, () => page(`"${"x".repeat(MB)}"`, 1_000));

async function collecting(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` };
}

function sender(url: string, { timeoutMs = 60_000, headers = {} } = {}) {
  return otlpSender({ url, headers, timeoutMs, resource: "[]", version: "1" });
}

/** Reads the whole request before it answers. */
function answering(answer: (response: ServerResponse) => void): RequestListener {
  return (request, response) => void request.resume().on("end", () => answer(response));
}

test("all pages are sent as one request, and later requests use the same connection", async () => {
  const bodies: string[] = [];
  let connections = 0;
  const { server, url } = await collecting((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      bodies.push(text);
      response.end("{}");
    });
  });
  server.on("connection", () => (connections += 1));
  const send = sender(url);
  for (let n = 0; n < 3; n++) expect(await send(SHORT)).toBe(0);
  const names = bodies.map((body) =>
    // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
    JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.map(({ name }: any) => name),
  );
  expect(names).toEqual([1, 2, 3].map(() => ["a", "b", "ü"]));
  expect(connections).toBe(1);
  expect(await send(LARGE)).toBe(0);
  expect(bodies.at(-1)?.length).toBeGreaterThan(16 * MB);
});

test("the answer decides whether spans are accepted, partly accepted, retried later or dropped", async () => {
  let answer: (response: ServerResponse) => void = () => {};
  const { url } = await collecting(answering((response) => answer(response)));
  const send = sender(url);
  const outcomeOf = async (respond: typeof answer): Promise<unknown> => {
    answer = respond;
    return await send(SHORT).catch((error: Error) => error);
  };
  expect(await outcomeOf((response) => response.end('{"partialSuccess":{"rejectedSpans":"2"}}'))).toBe(2);
  expect(await outcomeOf((response) => response.end('{"partialSuccess":{"rejectedSpans":"99"}}'))).toBe(3);
  expect(await outcomeOf((response) => response.writeHead(202).end("no JSON"))).toBe(0);
  for (const status of [400, 401, 413, 500])
    expect(await outcomeOf((response) => response.writeHead(status).end())).toEqual(
      new Error(`the collector answered ${status}`),
    );
  const busy = await outcomeOf((response) => response.writeHead(429, { "retry-after": "7" }).end());
  expect(busy).toBeInstanceOf(CollectorBusy);
  expect(busy).toMatchObject({ message: "the collector answered 429", waitMs: 7_000 });
  // If the answer breaks off, its status still counts.
  const cut = (status: number) => (response: ServerResponse) => {
    response.writeHead(status, { "content-length": 100 });
    response.write("{", () => response.socket?.destroy());
  };
  expect(await outcomeOf(cut(200))).toBe(0);
  expect(await outcomeOf(cut(500))).toEqual(new Error("the collector answered 500"));
  expect(await outcomeOf((response) => response.socket?.destroy())).toBeInstanceOf(CollectorBusy);
});

test("a redirect is an error and is not followed", async () => {
  let requests = 0;
  const elsewhere = await collecting((_, response) => {
    requests += 1;
    response.end("{}");
  });
  const { url } = await collecting(
    answering((response) => response.writeHead(307, { location: elsewhere.url }).end()),
  );
  const send = sender(url, { headers: { authorization: "Bearer secret" } });
  await expect(send(SHORT)).rejects.toEqual(new Error("the collector answered 307"));
  expect(requests).toBe(0);
});

test("a collector that hangs or answers byte by byte is abandoned after the timeout", async () => {
  const silent = await collecting(answering(() => {}));
  await expect(sender(silent.url, { timeoutMs: 200 })(SHORT)).rejects.toBeInstanceOf(CollectorBusy);
  let closed = 0;
  const slow = await collecting(
    answering((response) => {
      response.writeHead(200).write(" ");
      const drip = setInterval(() => response.write(" "), 20);
      response.once("close", () => {
        clearInterval(drip);
        closed += 1;
      });
    }),
  );
  expect(await sender(slow.url, { timeoutMs: 500 })(SHORT)).toBe(0);
  await until(() => closed === 1);
});

test("no more is sent to a collector that does not read, after its answer or after the timeout", async () => {
  const answers = { nothing: "", taken: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}" };
  for (const [name, answer] of Object.entries(answers)) {
    let closed = false;
    let read = 0;
    let resumeReading = (): unknown => undefined;
    const server = createSocketServer((socket) => {
      socket.once("close", () => (closed = true)).on("error", () => {});
      onTestFinished(() => void socket.destroy());
      if (answer !== "") socket.write(answer);
      resumeReading = () => socket.on("data", ({ length }) => (read += length));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const send = answer === "" ? sender(url, { timeoutMs: 500 }) : sender(url);
    const outcome = await send(LARGE).catch((error: Error) => error);
    expect([name, outcome]).toEqual([name, answer === "" ? expect.any(CollectorBusy) : 0]);
    // A socket notices its end only while it reads.
    resumeReading();
    await until(() => closed);
    expect(read).toBeLessThan(LARGE.length * MB);
  }
});

test("headers that cannot be sent and a refused connection are reported as errors", async () => {
  const { server, url } = await collecting(answering((response) => response.end("{}")));
  await expect(sender(url, { headers: { "x-a": "a\nb" } })(SHORT)).rejects.toThrow(/x-a/);
  await new Promise((resolve) => server.close(resolve));
  await expect(sender(url)(SHORT)).rejects.toThrow(/the collector cannot be reached: .*ECONNREFUSED/);
});
