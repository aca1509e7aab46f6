import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  dial,
  error,
  event,
  events,
  httpChild,
  json,
  remoteSpec,
  result,
  sessionful,
} from "../../../test/support/http-child.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT } from "../../kernel/raw.ts";
import { secretsFrom } from "../../kernel/secret.ts";

const SECRET = "Bearer very-secret-token";

/** Calls `on` for each request or response of this process, at the moment it is sent or handled. */
function watch(
  channel: string,
  on: (event: { request: ClientRequest; response?: IncomingMessage }) => void,
): void {
  const listener = (event: unknown) => on(event as Parameters<typeof on>[0]);
  subscribe(channel, listener);
  onTestFinished(() => void unsubscribe(channel, listener));
}

test("each message is one POST, with session id and protocol version once they are known", async () => {
  const child = await httpChild(
    sessionful((seen, response) => json(response, result(seen.message.id, seen.message.params))),
  );
  const { link, request, answer, handshake } = await dial(
    remoteSpec(child.url, { headers: secretsFrom({ "X-Key": "k" }) }),
  );
  await handshake();
  request(2, "echo", { n: 1 });

  expect((await answer(2)).result).toEqual({ n: 1 });
  const [first, , third] = child.seen.filter((seen) => seen.method === "POST");
  expect(first?.headers).toMatchObject({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "accept-encoding": "identity",
    "x-key": "k",
  });
  expect(first?.headers).not.toHaveProperty("mcp-session-id");
  expect(first?.headers).not.toHaveProperty("mcp-protocol-version");
  expect(third?.headers).toMatchObject({
    "mcp-session-id": "s-1",
    "mcp-protocol-version": "2025-11-25",
    "x-key": "k",
  });
  expect(link.peer).toBe(child.url);
});

test("payloads are passed unchanged in both directions", async () => {
  const written = '{ "big":12345678901234567890, "a":1.0,"a":2 }';
  const child = await httpChild((seen, response) => {
    response.setHeader("content-type", "application/json");
    response.end(`{"result":${seen.body.slice(seen.body.indexOf("params") + 8, -1)},"id":1,"jsonrpc":"2.0"}`);
  });
  const { link, received } = await dial(remoteSpec(child.url));
  const raw = (text: string) => Buffer.from(text) as never;
  link.send({ kind: "request", id: raw("1"), method: "m", params: raw(written) });

  const { message } = await until(() => received[0]);
  expect(message.kind === "result" && message.result.toString()).toBe(written);
});

test("messages on the stream of a request have its id as via, messages on the server's stream have none", async () => {
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") events(response).write(event({ jsonrpc: "2.0", method: "unasked" }));
    else if (seen.message.method === "initialize") json(response, result(1));
    else if (seen.message.id === undefined) response.writeHead(202).end();
    else {
      events(response).write(event({ jsonrpc: "2.0", id: "q", method: "ask" }));
      response.end(event(result(seen.message.id)));
    }
  });
  const { request, answer, received, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(7, "tools/call");

  expect((await answer(7)).via).toBe(7);
  const viaOf = (method: string) =>
    until(() =>
      received.find(
        ({ message }) => message.kind !== "result" && "method" in message && message.method === method,
      ),
    );
  expect((await viaOf("ask")).via).toBe(7);
  expect((await viaOf("unasked")).via).toBeUndefined();
});

test("requests wait until notifications/initialized is accepted", async () => {
  let accept = (): void => {};
  const child = await httpChild((seen, response) => {
    if (seen.message.method === "notifications/initialized") accept = () => response.writeHead(202).end();
    else json(response, result(seen.message.id));
  });
  const { request, answer, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "tools/list");
  await until(() => child.seen.length === 2);
  await new Promise(setImmediate);
  expect(child.seen.map((seen) => seen.message.method)).toEqual(["initialize", "notifications/initialized"]);

  accept();
  await answer(2);
});

test("the server's stream is opened before the requests that waited, so that no change after a list is missed", async () => {
  // The order in which they are sent. They use different sockets, so they may arrive in another order.
  const sent: string[] = [];
  watch("http.client.request.start", ({ request }) => sent.push(request.method));
  const child = await httpChild(sessionful((seen, response) => json(response, result(seen.message.id))));
  const { request, answer, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "tools/list");
  await answer(2);

  expect(sent).toEqual(["POST", "POST", "GET", "POST"]);
});

test("a server that offers no stream is asked for it only once", async () => {
  const child = await httpChild(sessionful((seen, response) => json(response, result(seen.message.id))));
  const clock = new ManualClock();
  const { request, answer, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  await until(() => child.seen.some((seen) => seen.method === "GET"));
  request(2, "ping");
  await answer(2);

  expect(clock.pending).toBe(0);
});

test("a broken server stream is resumed and reports no failure", async () => {
  const asked: (string | undefined)[] = [];
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") {
      asked.push(seen.headers["last-event-id"] as string | undefined);
      if (asked.length === 2) response.writeHead(503).end();
      else if (asked.length === 3) response.destroy();
      else {
        const broken = asked.length === 1;
        const note = event({ jsonrpc: "2.0", method: `n${asked.length}` }, `e${asked.length}`);
        events(response).write(note, () => broken && response.destroy());
      }
    } else if (seen.message.id === undefined) response.writeHead(202).end();
    else json(response, result(seen.message.id));
  });
  const clock = new ManualClock();
  const { received, failed, closed, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  for (const round of [1, 2, 3]) {
    await until(() => asked.length === round && clock.pending === 1, { what: `break ${round}` });
    clock.advance(30_000);
  }
  await until(() =>
    received.some(({ message }) => message.kind === "notification" && message.method === "n4"),
  );

  expect(asked).toEqual([undefined, "e1", "e1", "e1"]);
  expect([...failed, ...closed]).toEqual([]);
});

test("the broken stream of a request is resumed after its last event, with the delay of the server", async () => {
  const child = await httpChild(
    sessionful((seen, response) => {
      if (seen.method === "POST") {
        events(response).write(`retry: 50000\n${event("", "p-1")}`);
        response.write(`id: p-2\ndata: {"jsonrpc"`, () => response.destroy());
      } else events(response).end(event(result(5, "resumed"), "p-2"));
    }),
  );
  const clock = new ManualClock();
  const { request, answer, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  request(5, "slow");
  await until(() => clock.pending === 1);
  clock.advance(49_999);
  expect(clock.pending).toBe(1);
  clock.advance(1);

  expect(await answer(5)).toEqual({ result: "resumed", via: 5 });
  expect(child.seen.filter((seen) => seen.method === "GET").at(-1)?.headers["last-event-id"]).toBe("p-1");
});

test("a stream is resumed after an event that has only an id", async () => {
  const child = await httpChild(
    sessionful((seen, response) => {
      if (seen.method === "POST") events(response).end("id: only\n\nid: next\ndata: {");
      else events(response).end(event(result(5, "resumed"), "next"));
    }),
  );
  const clock = new ManualClock();
  const { request, answer, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  request(5, "slow");
  await until(() => clock.pending === 1);
  clock.advance(1_000);

  expect(await answer(5)).toEqual({ result: "resumed", via: 5 });
  expect(child.seen.filter((seen) => seen.method === "GET").at(-1)?.headers["last-event-id"]).toBe("only");
});

/**
 * A link whose request 5 has a broken stream and waits to resume it. `streams`: the server's one, then the
 * attempts to resume.
 */
async function brokenStream() {
  const broken = sessionful((_, response) => void events(response).end(event("", "p-1")));
  const streams: ServerResponse[] = [];
  const child = await httpChild((seen, response, request) => {
    if (seen.headers["last-event-id"]) streams.push(response);
    else if (seen.method === "GET") streams.push(events(response));
    else broken(seen, response, request);
  });
  const clock = new ManualClock();
  const { request, answer, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  request(5, "slow");
  await until(() => streams.length === 1 && clock.pending === 1);
  const answerElsewhere = async () => {
    streams[0]?.write(event(result(5, "elsewhere")));
    expect(await answer(5)).toEqual({ result: "elsewhere", via: undefined });
  };
  return { clock, streams, answerElsewhere };
}

test("a stream is not resumed after the answer came on another stream", async () => {
  const { clock, answerElsewhere } = await brokenStream();
  await answerElsewhere();

  expect(clock.pending).toBe(0);
});

test("a failed attempt to resume a stream is the last one if the answer came on another stream", async () => {
  const { clock, streams, answerElsewhere } = await brokenStream();
  clock.advance(1_000);
  await until(() => streams.length === 2);
  await answerElsewhere();
  const statuses: unknown[] = [];
  watch("http.client.response.finish", ({ response }) => statuses.push(response?.statusCode));
  streams[1]?.writeHead(503).end();
  await until(() => statuses.includes(503));

  expect(clock.pending).toBe(0);
});

test("a stream that cannot be resumed fails only its own request", async () => {
  const child = await httpChild(
    sessionful((seen, response) => {
      if (seen.method === "GET") response.writeHead(405).end();
      else if (seen.message.method === "with-ids") events(response).end(`retry: 10\n${event("", "x")}`);
      else if (seen.message.method === "without")
        events(response).write(": hello\n\n", () => response.destroy());
      else json(response, result(seen.message.id));
    }),
  );
  const { request, answer, failure, closed, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "without");
  request(3, "with-ids");

  expect(await failure(2)).toMatchObject({ category: "offline", unsent: false });
  expect(await failure(3)).toMatchObject({
    category: "other",
    message: expect.stringContaining("without an answer"),
  });
  request(4, "ping");
  await answer(4);
  expect(closed).toEqual([]);
});

test("if no server listens, the link is closed and the request counts as unsent", async () => {
  const child = await httpChild(() => {});
  await child.stop();
  const { request, closing, failed } = await dial(remoteSpec(child.url));
  request(1, "initialize");
  request(2, "ping");

  expect(await closing()).toMatchObject({ category: "offline", unsent: true, sessionLost: false });
  expect(failed).toEqual([]);
});

test("TLS to a server without TLS fails with a text that says so", async () => {
  const child = await httpChild(() => {});
  const { request, closing } = await dial(remoteSpec(child.url.replace("http:", "https:")));
  request(1, "initialize");

  expect(await closing()).toMatchObject({
    category: "other",
    unsent: true,
    message: expect.stringContaining("TLS"),
  });
});

test("a server that does not speak HTTP fails with a text that says so", async () => {
  const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { request, failure } = await dial(remoteSpec(`http://127.0.0.1:${port}/`));
  request(1, "initialize");

  expect(await failure(1)).toMatchObject({ category: "other", message: expect.stringContaining("HTTP") });
});

test("an event id that is no valid header value is not sent back", async () => {
  const child = await httpChild(
    sessionful((seen, response) => {
      if (seen.method === "GET") events(response).end(event(result(2)));
      else
        events(response).end(
          `retry: 10\n${event("", "ok")}${event("", seen.message.id === 2 ? "ünï" : "a\u0001")}`,
        );
    }),
  );
  const { request, answer, failure, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "utf8");
  await answer(2);
  request(3, "control");

  expect(await failure(3)).toMatchObject({ category: "other" });
  const sentBack = child.seen.flatMap((seen) => seen.headers["last-event-id"] ?? []);
  expect(sentBack).toEqual([Buffer.from("ünï").toString("latin1")]);
});

test("a host name that does not exist fails as offline", async () => {
  const { request, closing } = await dial(remoteSpec("http://nowhere.invalid/mcp"));
  request(1, "initialize");

  expect(await closing()).toMatchObject({ category: "offline", unsent: true });
});

test("a request that cannot connect while another one is connected fails alone", async () => {
  const child = await httpChild((_, response) => events(response).write(": working\n\n"));
  const { request, failure, closed, received } = await dial(remoteSpec(child.url), {
    authorize: () => ({
      current: () => ({ header: child.seen.length === 0 ? "good" : "\n", holder: "someone" }),
      replace: () => Promise.resolve("there is none"),
      replacementDenied() {},
    }),
  });
  request(1, "long");
  await until(() => child.seen.length === 1);
  request(2, "next");

  expect(await failure(2)).toMatchObject({ unsent: true });
  expect([...closed, ...received]).toEqual([]);
});

test("a connection reset before the answer fails that request as offline and possibly sent", async () => {
  const child = await httpChild((seen, response) =>
    seen.message.method === "crash" ? response.destroy() : json(response, result(seen.message.id)),
  );
  const { request, answer, failure, closed } = await dial(remoteSpec(child.url));
  request(1, "crash");
  expect(await failure(1)).toMatchObject({ category: "offline", unsent: false });
  request(2, "ping");
  await answer(2);
  expect(closed).toEqual([]);
});

test("a truncated answer fails its request", async () => {
  const child = await httpChild((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"jsonrpc":"2.0"', () => response.destroy());
  });
  const { request, failure } = await dial(remoteSpec(child.url));
  request(1, "ping");

  expect(await failure(1)).toMatchObject({ category: "offline", unsent: false });
});

test.each([
  [401, "auth", true],
  [403, "auth", true],
  [500, "http", false],
  [503, "http", false],
  [400, "other", true],
  [404, "other", true],
  [405, "other", true],
  [408, "other", false],
  [415, "other", true],
  [429, "other", false],
  [302, "other", true],
])(
  "status %i fails one request with category %s, and needs a fix: %s",
  async (status, category, needsFix) => {
    const child = await httpChild((_, response) =>
      response.writeHead(status, { "www-authenticate": 'Bearer realm="x"', "retry-after": "17" }).end("no"),
    );
    const { request, failure, closed } = await dial(remoteSpec(child.url));
    request(1, "initialize");

    const seen = await failure(1);
    expect(seen).toMatchObject({ category, needsFix, unsent: false, sessionLost: false });
    expect(seen.challenge).toBe('Bearer realm="x"');
    expect(seen.message).toContain(`${child.url} answered ${status}`);
    expect(seen.message).toContain("Retry-After 17");
    expect(seen.limited).toEqual(status === 429 ? { retryAfterMs: 17_000 } : undefined);
    expect(closed).toEqual([]);
  },
);

test("a lost session closes the link, and the refused request counts as unsent", async () => {
  let known = true;
  const child = await httpChild(
    sessionful((seen, response) => {
      if (known) json(response, result(seen.message.id));
      else json(response, error(null, -32001, "Session not found"), 404);
    }),
  );
  const { request, answer, closing, failed, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "ping");
  await answer(2);
  known = false;
  request(3, "tools/call");
  request(4, "tools/call");

  expect(await closing()).toMatchObject({ sessionLost: true, unsent: true });
  expect(failed).toEqual([]);
});

test("when the session is lost, a request that may have been sent does not count as unsent", async () => {
  const child = await httpChild(
    sessionful((seen, response) => {
      if (seen.message.method === "long")
        events(response).write(event({ jsonrpc: "2.0", method: "working" }));
      else response.writeHead(404).end();
    }),
  );
  const { request, closing, failed, received, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "long");
  await until(() => received.length === 2);
  request(3, "late");

  expect(await closing()).toMatchObject({ sessionLost: true, unsent: false });
  expect(failed).toMatchObject([{ id: 3, failure: { sessionLost: true, unsent: true } }]);
});

test("status 400 in a session that has worked counts as a lost session", async () => {
  let known = true;
  const child = await httpChild(
    sessionful((seen, response) => {
      if (known) json(response, result(seen.message.id));
      else json(response, error(null, -32000, "Bad Request: No valid session ID provided"), 400);
    }),
  );
  const { request, answer, closing, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "ping");
  await answer(2);
  known = false;
  request(3, "tools/call");

  expect(await closing()).toMatchObject({ sessionLost: true, unsent: true });
});

test("status 400 with the code of a failure in the server does not mean that the request did not run", async () => {
  let known = true;
  const child = await httpChild(
    sessionful((seen, response) => {
      if (known) json(response, result(seen.message.id));
      else json(response, error(null, -32603, "it broke"), 400);
    }),
  );
  const { request, answer, failure, handshake } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "ping");
  await answer(2);
  known = false;
  request(3, "tools/call");

  expect(await failure(3)).toMatchObject({ sessionLost: true, unsent: false });
});

test("a server that refuses the session it has just created is a failure and not a lost session", async () => {
  const child = await httpChild((seen, response) => {
    if (seen.message.method === "initialize") json(response, result(1), 200, { "mcp-session-id": "s" });
    else response.writeHead(404).end();
  });
  const { closing, handshake } = await dial(remoteSpec(child.url));
  await handshake();

  expect(await closing()).toMatchObject({ category: "other", sessionLost: false });
});

test("a JSON-RPC error is an answer, even with an error status", async () => {
  const child = await httpChild((seen, response) =>
    json(response, error(seen.message.id, -32601, "no"), 400),
  );
  const { request, answer } = await dial(remoteSpec(child.url));
  request(1, "initialize");

  expect((await answer(1)).error).toMatchObject({ code: -32601 });
});

test.each([
  ["a web page", "text/html", "<html>", "web page"],
  ["garbage", "application/json", "{no", "not a JSON-RPC message"],
  ["nothing", "application/json", "", "no result"],
  ["an answer to another request", "application/json", JSON.stringify(result(99)), "a different request"],
  ["a stream with another answer", "text/event-stream", event(result(99)), "a different request"],
  ["an empty stream", "text/event-stream", "", "without an answer"],
  [
    "a garbled answer on a stream",
    "text/event-stream",
    'data: {"id":1,"jsonrpc":"2.0","result":}\n\n',
    "not a JSON-RPC message",
  ],
])("%s instead of an answer fails with a text that says so", async (_, type, body, text) => {
  const child = await httpChild((_, response) => response.writeHead(200, { "content-type": type }).end(body));
  const { request, failure, closed } = await dial(remoteSpec(child.url));
  request(1, "initialize");

  expect(await failure(1)).toMatchObject({ category: "other", message: expect.stringContaining(text) });
  expect(closed).toEqual([]);
});

test.each(["application/json", "text/event-stream"])(
  "an answer over the size limit as %s becomes an error of its request",
  async (type) => {
    const child = await httpChild((seen, response) => {
      const huge = JSON.stringify(result(seen.message.id, "x".repeat(5_000)));
      response.writeHead(200, { "content-type": type });
      response.end(type === "application/json" ? huge : `data: ${huge}\n\n`);
    });
    const { request, answer, failed } = await dial(remoteSpec(child.url), { maxMessageBytes: 1_000 });
    request(1, "big");

    expect((await answer(1)).error).toMatchObject({ code: -32603, data: { metamcp: "result_too_large" } });
    expect(failed).toEqual([]);
  },
);

test("an answer whose content-length is over the limit is not read", async () => {
  const child = await httpChild((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "5000" }).flushHeaders();
  });
  const { request, answer } = await dial(remoteSpec(child.url), { maxMessageBytes: 1_000 });
  request(1, "big");

  expect((await answer(1)).error).toMatchObject({ data: { metamcp: "result_too_large" } });
});

test("an error without an id in the response to a request is the answer to that request", async () => {
  const child = await httpChild((_, response) => json(response, error(null, -32700, "Parse error")));
  const { request, answer } = await dial(remoteSpec(child.url));
  request(4, "ping");

  expect((await answer(4)).error).toMatchObject({ code: -32700 });
});

test("an endless answer is cut off at the size limit", async () => {
  const child = await httpChild((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const pour = (): void => {
      while (!response.destroyed && response.write("x".repeat(1_000)));
    };
    response.on("drain", pour);
    pour();
  });
  const { request, answer } = await dial(remoteSpec(child.url), { maxMessageBytes: 100_000 });
  request(1, "endless");

  expect((await answer(1)).error).toMatchObject({ data: { metamcp: "result_too_large" } });
  await until(async () => (await child.sockets()) === 0);
});

test("the messages of a batched answer are delivered one by one", async () => {
  const child = await httpChild((seen, response) =>
    json(response, [{ jsonrpc: "2.0", method: "note" }, result(seen.message.id, "ok")]),
  );
  const { request, answer, received } = await dial(remoteSpec(child.url));
  request(1, "ping");

  expect((await answer(1)).result).toBe("ok");
  expect(received).toHaveLength(2);
});

test("redirects within the origin are followed with method and body, and used for later requests", async () => {
  const child = await httpChild((seen, response) => {
    if (seen.url === "/mcp") response.writeHead(307, { location: "/mcp/" }).end();
    else json(response, result(seen.message.id, seen.headers["x-key"]));
  });
  const { request, answer } = await dial(remoteSpec(child.url, { headers: secretsFrom({ "x-key": "k" }) }));
  request(1, "ping");
  expect((await answer(1)).result).toBe("k");
  request(2, "ping");
  await answer(2);

  expect(child.seen.map((seen) => seen.url)).toEqual(["/mcp", "/mcp/", "/mcp/"]);
});

test("a redirect to another origin is not followed, and a redirect loop ends", async () => {
  const other = await httpChild((seen, response) => json(response, result(seen.message.id)));
  const child = await httpChild((seen, response) => {
    const location = seen.message.method === "away" ? `${other.url}?token=t` : "/mcp";
    response.writeHead(308, { location }).end();
  });
  const { request, failure } = await dial(
    remoteSpec(child.url, { headers: secretsFrom({ authorization: SECRET }) }),
  );
  request(1, "away");
  request(2, "round");

  const away = await failure(1);
  expect(away.message).toContain(`moved to ${other.url}`);
  expect(away.message).not.toContain("token");
  expect(await failure(2)).toMatchObject({ category: "other" });
  expect(other.seen).toEqual([]);
});

test("secrets are masked in failures and logs, even if the server repeats them", async () => {
  const child = await httpChild((seen, response) =>
    json(response, error(null, -32000, `bad ${seen.headers.authorization} and ${seen.url}`), 400),
  );
  const url = `${child.url.replace("//", "//user:pass-word@")}?key=query-secret`;
  const { link, request, notify, failure, logged } = await dial(
    remoteSpec(url, { headers: secretsFrom({ authorization: SECRET }) }),
  );
  request(1, "initialize");
  notify("note");
  const { message } = await failure(1);
  await until(() => logged.length > 0);

  const shown = `${message} ${logged.join()} ${link.peer}`;
  for (const secret of ["very-secret-token", "pass-word", "query-secret"])
    expect(shown).not.toContain(secret);
  expect(child.seen[0]).toMatchObject({ url: "/mcp?key=query-secret", headers: { authorization: SECRET } });
});

test("a cancellation is sent to the server, and the stream of the request is closed", async () => {
  let ended = false;
  const child = await httpChild((seen, response) => {
    if (seen.message.method === "long") {
      events(response).write(": working\n\n");
      response.on("close", () => {
        ended = true;
      });
    } else response.writeHead(202).end();
  });
  const { request, notify, failed, closed } = await dial(remoteSpec(child.url));
  request(3, "long");
  await until(() => child.seen.length === 1);
  notify("notifications/cancelled", { requestId: 3 });

  await until(() => ended && child.seen.some((seen) => seen.message.method === "notifications/cancelled"));
  expect([...failed, ...closed]).toEqual([]);
});

test("streams that stay open after their answer are closed beyond a limit", async () => {
  const child = await httpChild(
    (seen, response) => void events(response).write(event(result(seen.message.id))),
  );
  const { request, answer } = await dial(remoteSpec(child.url));
  for (let id = 1; id <= 12; id++) {
    request(id, "ping");
    await answer(id);
  }

  await until(async () => (await child.sockets()) === 8);
});

test("close() ends the session and leaves no socket, even while requests are pending", async () => {
  const child = await httpChild(sessionful(() => {}));
  const { link, request, handshake, failed, closed } = await dial(remoteSpec(child.url));
  await handshake();
  request(2, "hang");
  await until(() => child.seen.some((seen) => seen.message.method === "hang"));
  await link.close();
  await link.close();

  // The GET of the server stream uses another socket and may arrive later.
  const posted = child.seen.filter(({ method }) => method !== "GET");
  expect(posted.at(-1)).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "s-1" } });
  await until(async () => (await child.sockets()) === 0);
  expect([...failed, ...closed]).toEqual([]);
});

test("close() does not wait for a server that does not answer the DELETE of the session", async () => {
  const ok = sessionful(() => {});
  const child = await httpChild(
    (seen, response, request) => seen.method === "DELETE" || ok(seen, response, request),
  );
  const clock = new ManualClock();
  const { link, handshake } = await dial(remoteSpec(child.url), { clock });
  await handshake();
  const closing = link.close();
  await until(() => child.seen.some(({ method }) => method === "DELETE"));
  clock.advance(1_000);

  await closing;
});

test.each([
  ["not a URL", { url: "nonsense" }],
  ["another scheme", { url: "ftp://host/x" }],
  ["a header that cannot be sent", { headers: secretsFrom({ "x-token": "line\nbreak-secret" }) }],
])("open() rejects an invalid spec: %s", async (_, more) => {
  const opening = dial(remoteSpec("http://127.0.0.1:1/mcp", more));

  await expect(opening).rejects.toMatchObject({ name: "ChildFailure", category: "other" });
  await expect(opening).rejects.not.toThrow("break-secret");
});

test("large requests arrive complete", async () => {
  const child = await httpChild((seen, response) =>
    json(response, result(seen.message.id, seen.body.length)),
  );
  const { request, answer } = await dial(remoteSpec(child.url));
  const params = { text: "ä".repeat(300_000) };
  request(1, "big", params);

  expect((await answer(1)).result).toBeGreaterThan(300_000);
  expect(child.seen[0]?.message.params).toEqual(params);
});

test("a server that asks and does not take the answers is no longer read", async () => {
  let asked = 0;
  let posts = 0;
  const child = await httpChild((seen, response) => {
    if (seen.method === "GET") {
      const stream = events(response);
      const pump = (): void => {
        for (let n = 0; n < 50; n++) stream.write(event({ jsonrpc: "2.0", id: ++asked, method: "ping" }));
        if (asked < 100_000 && !stream.destroyed) setImmediate(pump);
      };
      pump();
    } else if (seen.message.method === "initialize") json(response, result(1));
    else if (seen.message.method === undefined) posts++;
    else response.writeHead(202).end();
  });
  const { link, received, handshake } = await dial(remoteSpec(child.url));
  await handshake();
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
  // One chunk of the stream may contain many requests, so this is far more than what pauses it, and far less
  // than was asked.
  expect(posts).toBeLessThan(5_000);
  await link.close();
});
