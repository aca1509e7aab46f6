/** The deprecated HTTP+SSE transport of one endpoint: an event stream per client, and a path to POST messages to. */
import type { ServerResponse } from "node:http";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Principal, samePrincipal } from "../../kernel/principal.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Session, Traced } from "../../session/session.ts";
import { ENDPOINT_ENDED, SESSION_ENDED } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { type Received, refuse, refuseTooMany } from "./http-server.ts";
import { writeOrCut } from "./unread-responses.ts";

const MAX_SESSIONS = 10_000;
const HEARTBEAT_MS = 25_000;
const UNKNOWN_SESSION = "there is no such session: open the event stream first";

interface SseClient {
  readonly session: Session;
  readonly principal: Principal;
  readonly response: ServerResponse;
}

export class SseEndpoint {
  readonly #host: Host;
  readonly #messagePath: string;
  readonly #clients = new Map<string, SseClient>();
  readonly #heartbeat: NodeJS.Timeout;

  /** `messagePath` is the path for POST that the first event names. */
  constructor(host: Host, messagePath: string) {
    this.#host = host;
    this.#messagePath = messagePath;
    this.#heartbeat = setInterval(() => {
      for (const { response } of this.#clients.values())
        if (response.writableLength === 0) response.write(": \n\n");
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  listen({ response, principal }: Received): void {
    const host = this.#host;
    if (!host.ready) return refuse(response, 503, "MetaMCP is stopping");
    if (host.full("sessions")) return refuseTooMany(response, "sessions");
    if (this.#clients.size >= MAX_SESSIONS) return refuse(response, 503, "there are too many sessions");
    const session = host.open((message) => {
      writeOrCut(response, Buffer.concat(encodeEvent(encode(message), undefined, "message")));
    }, principal);
    this.#clients.set(session.id, { session, principal, response });
    response.once("close", () => {
      this.#clients.delete(session.id);
      session.destroy(new MetaMcpError("cancelled", "the client closed its stream"));
      host.ended(session);
    });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`event: endpoint\ndata: ${this.#messagePath}?sessionId=${session.id}\n\n`);
  }

  take(received: Received): void {
    const { request, response, principal } = received;
    const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
    const client = this.#clients.get(id);
    if (!client || !samePrincipal(client.principal, principal))
      return refuse(response, 404, UNKNOWN_SESSION, -32001);
    readMessageOf(received, (message) => {
      // The session may have ended while the message arrived.
      if (client.response.writableEnded) return refuse(response, 404, UNKNOWN_SESSION, -32001);
      if (message.kind === "request" && this.#host.full("inFlight")) {
        this.#host.recordOverLimit(message, principal, client.session);
        return refuseTooMany(response, "requests");
      }
      client.session.receive(message, { trace: traceHeadersIn(request.headers) } satisfies Traced);
      response.writeHead(202).end("Accepted");
    });
  }

  /** Ends all sessions of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const client of this.#clients.values()) if (whose(client.principal)) end(client, reason);
  }

  /** Returns false if there is no such session. */
  endSession(id: string): boolean {
    const client = this.#clients.get(id);
    if (client) end(client, SESSION_ENDED);
    return client !== undefined;
  }

  end(): void {
    clearInterval(this.#heartbeat);
    this.endOf(() => true, ENDPOINT_ENDED);
  }
}

function end({ session, response }: SseClient, reason: MetaMcpError): void {
  session.dismiss(reason);
  response.end();
}
