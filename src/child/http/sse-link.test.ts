import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import {
  type Answerer,
  dial,
  error,
  event,
  events,
  httpChild,
  json,
  remoteSpec,
  result,
} from "../../../test/support/http-child.ts";
import { until } from "../../../test/support/until.ts";
import { EMPTY_OBJECT } from "../../kernel/raw.ts";
import { secretsFrom } from "../../kernel/secret.ts";
import { ChildFailure } from "../link.ts";

const sseSpec: typeof remoteSpec = (url, more) => remoteSpec(url, { kind: "sse", ...more });
const endpoint = (place: string): string => `event: endpoint\ndata: ${place}\n\n`;

/**
 * A server that names an endpoint, accepts posts there, and calls `answer` with each message and the stream.
 */
function sseChild(answer: (seen: Parameters<Answerer>[0], stream: ServerResponse) => void): Answerer {
  let stream: ServerResponse | undefined;
  return (seen, response) => {
    if (seen.method === "GET") {
      stream = events(response);
      stream.write(endpoint("messages?session=7"));
    } else {
      response.writeHead(202).end("Accepted");
      if (stream) answer(seen, stream);
    }
  };
}

test("an SSE link posts to the endpoint named by the server and receives all messages on one stream", async () => {
  const child = await httpChild(
    sseChild(({ message }, stream) => {
      if (message.id !== undefined)
        stream.write(event({ jsonrpc: "2.0", method: "note" }) + event(result(message.id)));
    }),
  );
  const { request, answer, received, handshake } = await dial(
    sseSpec(child.url, { headers: secretsFrom({ "x-key": "k" }) }),
  );
  await handshake();
  request(2, "ping");

  expect(await answer(2)).toEqual({ result: {}, via: undefined });
  expect(received.every(({ via }) => via === undefined)).toBe(true);
  expect(child.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "GET /mcp",
    "POST /messages?session=7",
    "POST /messages?session=7",
    "POST /messages?session=7",
  ]);
  expect(child.seen.every(({ headers }) => headers["x-key"] === "k")).toBe(true);
  expect(child.seen.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-11-25");
});

test("an SSE link closes when its stream ends", async () => {
  const child = await httpChild(sseChild((_, stream) => stream.end()));
  const { request, closing, failed } = await dial(sseSpec(child.url));
  request(1, "initialize");

  expect(await closing()).toMatchObject({ category: "offline", unsent: false });
  expect(failed).toEqual([]);
  await until(async () => (await child.sockets()) === 0);
});

test("a refused message fails only its own request", async () => {
  const statuses = [500, 401, 404];
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") events(response).write(endpoint("/m"));
    else if (statuses.length > 0)
      response.writeHead(statuses.shift() ?? 0, { "www-authenticate": "Basic" }).end();
    else json(response, error(seen.message.id, -32600, "bad"), 400);
  });
  const { request, failure, answer, closed } = await dial(sseSpec(child.url));
  for (const [id, category] of [
    [1, "http"],
    [2, "auth"],
    [3, "other"],
  ] as const) {
    request(id, "ping");
    expect(await failure(id)).toMatchObject({ category, unsent: false });
  }
  request(4, "ping");
  expect((await answer(4)).error).toMatchObject({ code: -32600 });
  expect(closed).toEqual([]);
});

test("an answer over the size limit fails its request, and the link stays open", async () => {
  const child = await httpChild(
    sseChild(({ message }, stream) => {
      const size = message.method === "big" ? 5_000 : 5;
      stream.write(event(result(message.id, "x".repeat(size))));
    }),
  );
  const { request, answer, closed } = await dial(sseSpec(child.url), { maxMessageBytes: 1_000 });
  request(1, "big");
  expect((await answer(1)).error).toMatchObject({ code: -32603, data: { metamcp: "result_too_large" } });
  request(2, "small");
  expect((await answer(2)).result).toBe("xxxxx");
  expect(closed).toEqual([]);
});

test("an answer that cannot be read fails its request", async () => {
  const child = await httpChild(
    sseChild((_, stream) => stream.write('data: {"jsonrpc":"2.0","id":1,"result":{]}\n\n')),
  );
  const { request, failure } = await dial(sseSpec(child.url));
  request(1, "ping");

  expect(await failure(1)).toMatchObject({ category: "other" });
});

test.each<[string, string, (response: ServerResponse) => void]>([
  [
    "a login is wanted",
    "auth",
    (response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
  ],
  ["it is broken", "http", (response) => response.writeHead(502).end()],
  ["it is no event stream", "other", (response) => json(response, {})],
  ["the stream ends before it names an endpoint", "offline", (response) => events(response).end(": hi\n\n")],
  [
    "the endpoint is elsewhere",
    "other",
    (response) => events(response).write(endpoint("http://evil.invalid/m")),
  ],
])("open() rejects if %s, and leaves no socket", async (_, category, answer) => {
  const child = await httpChild((_, response) => answer(response));

  await expect(dial(sseSpec(child.url))).rejects.toMatchObject({ name: "ChildFailure", category });
  await until(async () => (await child.sockets()) === 0);
});

test("requests wait until notifications/initialized is accepted", async () => {
  let accept = (): void => {};
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") events(response).write(endpoint("/m"));
    else if (seen.message.method === "notifications/initialized")
      accept = () => response.writeHead(202).end();
    else response.writeHead(202).end();
  });
  const { request, notify } = await dial(sseSpec(child.url));
  notify("notifications/initialized");
  request(1, "tools/list");
  await until(() => child.seen.length === 2);
  await new Promise(setImmediate);
  expect(child.seen.at(-1)?.message.method).toBe("notifications/initialized");

  accept();
  await until(() => child.seen.at(-1)?.message.method === "tools/list");
});

test("open() rejects with the reason of the abort if that is a ChildFailure", async () => {
  const child = await httpChild((_, response) => void events(response));
  const reason = new ChildFailure("offline", "too slow");

  const opening = dial(sseSpec(child.url), { signal: AbortSignal.abort(reason) });
  await expect(opening).rejects.toBe(reason);
});

test("open() can be aborted while it waits for the endpoint", async () => {
  const child = await httpChild((_, response) => void events(response));
  const abort = new AbortController();
  const opening = dial(sseSpec(child.url), { signal: abort.signal });
  await until(() => child.seen.length === 1);
  abort.abort();

  await expect(opening).rejects.toMatchObject({ name: "ChildFailure", message: "connecting was cancelled" });
  await until(async () => (await child.sockets()) === 0);
});

test("a server that asks and does not take the answers is no longer read", async () => {
  let asked = 0;
  let posts = 0;
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") {
      const stream = events(response);
      stream.write(endpoint("messages"));
      const pump = (): void => {
        for (let n = 0; n < 50; n++) stream.write(event({ jsonrpc: "2.0", id: ++asked, method: "ping" }));
        if (asked < 100_000 && !stream.destroyed) setImmediate(pump);
      };
      pump();
      // Answers are not taken.
    } else posts++;
  });
  const { link, received } = await dial(sseSpec(child.url));
  let answered = 0;
  for (let quiet = 0; quiet < 20; ) {
    const before = received.length;
    for (; answered < received.length; answered++) {
      const message = received[answered]?.message;
      if (message?.kind === "request") link.send({ kind: "result", id: message.id, result: EMPTY_OBJECT });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    quiet = received.length === before && posts > 0 ? quiet + 1 : 0;
  }
  expect(posts).toBeLessThan(5_000);
  await link.close();
});
