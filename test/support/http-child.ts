/** HTTP servers whose answers a test decides, and a link to them that records all messages. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpConnector, type HttpConnectorOptions } from "../../src/child/http/connector.ts";
import type { ChildFailure, Link, LinkEvents } from "../../src/child/link.ts";
import type { McpRemoteSpec } from "../../src/config/spec.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import type { Log } from "../../src/kernel/log.ts";
import { asRaw, fromRaw, toRaw } from "../../src/kernel/raw.ts";
import type { Message } from "../../src/rpc/message.ts";
import type { Via } from "../../src/rpc/peer.ts";
import { atEnd } from "./shared.ts";
import { COMMON_REMOTE } from "./spec.ts";
import { until } from "./until.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The parsed body; {} if it is not JSON. */
  readonly message: { id?: number; method?: string; params?: Record<string, unknown>; result?: unknown };
}

export type Answerer = (seen: SeenRequest, response: ServerResponse, request: IncomingMessage) => void;

export interface HttpChild {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Number of open sockets. */
  sockets(): Promise<number>;
  stop(): Promise<void>;
}

export async function httpChild(answer: Answerer, port = 0): Promise<HttpChild> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const one = requestSeen(request, Buffer.concat(parts).toString());
      seen.push(one);
      answer(one, response, request);
    });
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((closed) => server.close(closed));
  };
  atEnd(stop);
  const sockets = (): Promise<number> =>
    new Promise((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen, sockets, stop };
}

/** A server that does not speak MCP. It answers with the status in the path. Returns its address. */
export async function webServer(): Promise<string> {
  const { url } = await httpChild((seen, response) => {
    const status = Number(seen.url.slice(1, 4)) || 200;
    response.writeHead(status, { "content-type": "text/html" }).end("<html>hello</html>");
  });
  return new URL(url).origin;
}

function requestSeen(request: IncomingMessage, body: string): SeenRequest {
  let message: SeenRequest["message"] = {};
  try {
    message = JSON.parse(body) as SeenRequest["message"];
  } catch {}
  return { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body, message };
}

export function json(response: ServerResponse, value: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export const result = (id: unknown, value: unknown = {}): unknown => ({ jsonrpc: "2.0", id, result: value });
export const error = (id: unknown, code: number, message: string): unknown => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

export function events(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  return response;
}

export function event(value: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${value === "" ? "" : JSON.stringify(value)}\n\n`;
}

const HELLO = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "remote" } };

/** Answers the handshake with a session, offers no GET stream, and passes all other requests to `answer`. */
export function sessionful(answer: Answerer, session = "s-1"): Answerer {
  return (seen, response, request) => {
    const { id, method } = seen.message;
    if (method === "initialize") json(response, result(id, HELLO), 200, { "mcp-session-id": session });
    else if (method === "notifications/initialized") response.writeHead(202).end();
    else if (seen.method === "GET" && seen.headers["last-event-id"] === undefined)
      response.writeHead(405).end();
    else if (seen.method === "DELETE") response.writeHead(200).end();
    else answer(seen, response, request);
  };
}

export function remoteSpec(url: string, more: Partial<McpRemoteSpec> = {}): McpRemoteSpec {
  return {
    kind: "http",
    name: "remote",
    url,
    headers: {},
    oauth: undefined,
    ...COMMON_REMOTE,
    ...more,
  };
}

export interface DialledLink {
  readonly link: Link;
  readonly received: { message: Message; via: Via }[];
  readonly failed: { id: number; failure: ChildFailure }[];
  readonly closed: ChildFailure[];
  readonly logged: string[];
  request(id: number, method: string, params?: unknown): void;
  notify(method: string, params?: unknown): void;
  /** Waits for the result or error with this id. */
  answer(id: number): Promise<{ result?: unknown; error?: { code: number; data?: unknown }; via: Via }>;
  failure(id: number): Promise<ChildFailure>;
  closing(): Promise<ChildFailure>;
  /** Sends `initialize`, sets the revision, and sends `initialized`. */
  handshake(): Promise<void>;
}

export async function dial(
  spec: McpRemoteSpec,
  options: Partial<HttpConnectorOptions> & { signal?: AbortSignal } = {},
): Promise<DialledLink> {
  const received: DialledLink["received"] = [];
  const failed: DialledLink["failed"] = [];
  const closed: ChildFailure[] = [];
  const logged: string[] = [];
  const at = (level: string) => (message: string, fields?: object) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const linkEvents: LinkEvents = {
    onMessage: (message, via) => void received.push({ message, via }),
    onFailed: (id, failure) => void failed.push({ id, failure }),
    onClosed: (failure) => void closed.push(failure),
  };
  const connector = createHttpConnector({ log, clock: systemClock, maxMessageBytes: 1 << 20, ...options });
  const link = await connector.open(spec, linkEvents, options.signal ?? new AbortController().signal);
  atEnd(() => link.close());
  const idOf = (id: number) => asRaw(Buffer.from(String(id)));

  const opened: DialledLink = {
    link,
    received,
    failed,
    closed,
    logged,
    request: (id, method, params) =>
      link.send({
        kind: "request",
        id: idOf(id),
        method,
        params: params === undefined ? undefined : toRaw(params),
      }),
    notify: (method, params) =>
      link.send({ kind: "notification", method, params: params === undefined ? undefined : toRaw(params) }),
    answer: (id) =>
      until(
        () => {
          for (const { message, via } of received) {
            if (message.kind === "result" && message.id.equals(idOf(id)))
              return { result: fromRaw(message.result), via };
            if (message.kind === "error" && message.id?.equals(idOf(id)))
              return { error: fromRaw(message.error) as { code: number }, via };
          }
          return undefined;
        },
        { what: `an answer to ${id}` },
      ),
    failure: (id) =>
      until(() => failed.find((one) => one.id === id)?.failure, { what: `the failure of ${id}` }),
    closing: () => until(() => closed[0], { what: "the end of the link" }),
    async handshake() {
      opened.request(1, "initialize", {});
      await opened.answer(1);
      link.agreed("2025-11-25");
      opened.notify("notifications/initialized");
    },
  };
  return opened;
}
