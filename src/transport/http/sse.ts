/** The deprecated HTTP+SSE transport: one stream per client, and a path to post to. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { MetaMcpError } from "../../kernel/errors.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Session } from "../../session/session.ts";
import type { Host, Transport } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { Front, type FrontOptions, refuse } from "./front.ts";
import { writeOrCut } from "./unread.ts";

const MOST_SESSIONS = 10_000;
const BEAT_MS = 25_000;

export interface SseOptions extends FrontOptions {
  onListening(url: string): void;
}

interface Open {
  readonly session: Session;
  readonly response: ServerResponse;
}

export function createSseTransport(options: SseOptions): Transport {
  const open = new Map<string, Open>();
  let stop: () => Promise<void> = () => Promise.resolve();
  let close: () => Promise<void> = () => Promise.resolve();
  return {
    name: "sse",
    info: `${options.host}:${options.port}/sse`,
    async serve(host) {
      const front = new Front(options, host, (path, request, response) => {
        if (path === "/sse" && request.method === "GET") listen(host, open, response);
        else if (path === "/messages" && request.method === "POST") {
          take(open, request, response);
        } else return false;
        return true;
      });
      const beat = setInterval(() => {
        for (const { response } of open.values()) if (response.writableLength === 0) response.write(": \n\n");
      }, BEAT_MS);
      stop = () => front.stop();
      close = async () => {
        clearInterval(beat);
        for (const { response } of open.values()) response.end();
        await front.closeAll();
      };
      options.onListening(`${await front.listen()}/sse`);
      await front.over();
    },
    stop: () => stop(),
    close: () => close(),
  };
}

function listen(host: Host, open: Map<string, Open>, response: ServerResponse): void {
  if (!host.ready) return refuse(response, 503, "MetaMCP is stopping");
  if (open.size >= MOST_SESSIONS) return refuse(response, 503, "there are too many sessions");
  const session = host.open((message) => {
    writeOrCut(response, Buffer.concat(encodeEvent(encode(message), undefined, "message")));
  });
  open.set(session.id, { session, response });
  response.once("close", () => {
    open.delete(session.id);
    session.destroy(new MetaMcpError("cancelled", "the client closed its stream"));
    host.ended(session);
  });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(`event: endpoint\ndata: /messages?sessionId=${session.id}\n\n`);
}

function take(open: ReadonlyMap<string, Open>, request: IncomingMessage, response: ServerResponse): void {
  const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
  const client = open.get(id);
  if (!client) return refuse(response, 404, "there is no such session: open /sse first", -32001);
  readMessageOf(request, response, (message) => {
    client.session.receive(message);
    response.writeHead(202).end("Accepted");
  });
}
