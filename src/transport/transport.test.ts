import { PassThrough } from "node:stream";
import { systemClock as clock } from "../engine/system-clock.ts";
import { createSseTransport } from "./http/sse.ts";
import { createStreamableTransport } from "./http/streamable.ts";
import { createStdioTransport } from "./stdio.ts";
import { type TransportClient, type TransportSubject, transportContract } from "./transport.contract.ts";
import type { Transport } from "./transport.ts";

class Inbox {
  readonly #messages: string[] = [];
  #arrived: () => void = () => {};

  put(message: string): void {
    this.#messages.push(message);
    this.#arrived();
  }

  async next(): Promise<string> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}

function overStdio(): TransportSubject {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const inbox = new Inbox();
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) inbox.put(line);
  });
  return {
    transport: createStdioTransport({ input, output, maxMessageBytes: 1 << 22, clock }),
    several: false,
    connect: () => ({
      send: (message) => void input.write(`${message}\n`),
      receive: () => inbox.next(),
      leave: () => void input.end(),
    }),
  };
}

/** Puts each message of a JSON body or an event stream into the inbox, until the body ends or fails. */
async function readAll({ headers, body }: Response, inbox: Inbox): Promise<void> {
  if (!body) return;
  const events = headers.get("content-type") === "text/event-stream";
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    for (let end = rest.indexOf("\n"); events && end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line.startsWith("data: ") && line.length > 6) inbox.put(line.slice(6));
    }
  }
  if (!events && rest) inbox.put(rest);
}

function httpClient(url: string): TransportClient {
  const inbox = new Inbox();
  const headers: Record<string, string> = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  return {
    async send(body) {
      const response = await fetch(url, { method: "POST", headers, body });
      const session = response.headers.get("mcp-session-id");
      if (session) headers["mcp-session-id"] = session;
      readAll(response, inbox).catch(() => {});
    },
    receive: () => inbox.next(),
    leave: async () => void (await fetch(url, { method: "DELETE", headers })),
  };
}

/** The first event of the stream is the endpoint to POST to. */
async function sseClient(url: string): Promise<TransportClient> {
  const inbox = new Inbox();
  const abort = new AbortController();
  const stream = await fetch(url, { headers: { accept: "text/event-stream" }, signal: abort.signal });
  readAll(stream, inbox).catch(() => {});
  const endpoint = new URL(await inbox.next(), url);
  return {
    async send(body) {
      const headers = { "content-type": "application/json" };
      await (await fetch(endpoint, { method: "POST", headers, body })).text();
    },
    receive: () => inbox.next(),
    leave: () => abort.abort(),
  };
}

function overHttp(
  create: (options: Parameters<typeof createStreamableTransport>[0]) => Transport,
  connect: (url: string) => Promise<TransportClient> | TransportClient,
): TransportSubject {
  let listening: (url: string) => void = () => {};
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const transport = create({
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    token: undefined,
    allowHosts: [],
    allowOrigins: [],
    stateless: false,
    jsonResponse: false,
    sessionTimeoutMs: 60_000,
    heartbeatMs: 25_000,
    clock,
    onListening: listening,
  });
  return { transport, several: true, connect: async () => await connect(await url) };
}

transportContract("stdio", overStdio);
transportContract("streamable HTTP", () => overHttp(createStreamableTransport, httpClient));
transportContract("SSE", () => overHttp(createSseTransport, sseClient));
