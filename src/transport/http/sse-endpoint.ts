/** The deprecated HTTP+SSE transport of one endpoint: an event stream per client, and a path to POST messages to. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { YieldingSessions } from "../../kernel/concurrency-limiter.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EVENT_STREAM } from "../../kernel/event-stream-headers.ts";
import { type Principal, samePrincipal } from "../../kernel/principal.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { sharedSession } from "../../kernel/yielding-session.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Session, Traced } from "../../session/session.ts";
import { ENDPOINT_ENDED, NO_ROOM, SESSION_ENDED } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import { readMessageOf, senderOf } from "./body.ts";
import { type Received, refuse, refuseTooMany } from "./http-server.ts";
import { writeOrCut } from "./unread-responses.ts";

const MAX_SESSIONS = 10_000;
const HEARTBEAT_MS = 25_000;
const UNKNOWN_SESSION = "there is no such session: open the event stream first";

interface SseClient {
  readonly session: Session;
  readonly principal: Principal;
  readonly response: ServerResponse;
  /** Whose share of the sessions it counts for. */
  readonly owner: string;
  /** The credential was in the URL of the stream, which the URL for messages does not repeat. */
  readonly byUrl: boolean;
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
    host.onFull(this.#open);
  }

  listen(received: Received): void {
    const { request, response, principal } = received;
    const host = this.#host;
    const owner = senderOf(received);
    if (!host.ready) return refuse(response, 503, "MetaMCP is stopping");
    if (!host.makeRoom(owner)) return refuseTooMany(response, "sessions");
    if (!this.#makeRoom(owner)) return refuse(response, 503, "there are too many sessions");
    const session = host.open((message) => {
      writeOrCut(response, Buffer.concat(encodeEvent(encode(message), undefined, "message")));
    }, principal);
    const { authorization, "x-api-key": key } = request.headers;
    const byUrl = principal.kind !== "anonymous" && authorization === undefined && key === undefined;
    this.#clients.set(session.id, { session, principal, response, owner, byUrl });
    response.once("close", () => {
      this.#clients.delete(session.id);
      session.destroy(new MetaMcpError("cancelled", "the client closed its stream"));
      host.ended(session);
    });
    response.writeHead(200, EVENT_STREAM);
    response.write(`event: endpoint\ndata: ${this.#messagePath}?sessionId=${session.id}\n\n`);
  }

  /** The sender of a message without credentials, if its session was opened with the credential in the URL. The id of the session is as secret as the credential, and the session ends with it. */
  senderOf(request: Pick<IncomingMessage, "url">): Principal | undefined {
    const client = this.#clients.get(sessionIn(request));
    return client?.byUrl ? client.principal : undefined;
  }

  take(received: Received): void {
    const { request, response, principal } = received;
    const client = this.#clients.get(sessionIn(request));
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

  /** Returns false if the table is full and no session may end. */
  #makeRoom(caller: string): boolean {
    if (this.#clients.size < MAX_SESSIONS) return true;
    const yielding = sharedSession(this.#open(), caller);
    yielding?.end();
    return yielding !== undefined;
  }

  /** All clients have a stream, so none is dead. */
  readonly #open: YieldingSessions = () =>
    [...this.#clients.values()].map((client) => ({
      owner: client.owner,
      idleMs: 0,
      busy: client.session.serving > 0,
      end: () => {
        this.#clients.delete(client.session.id);
        end(client, NO_ROOM);
        this.#host.ended(client.session);
      },
    }));

  end(): void {
    clearInterval(this.#heartbeat);
    this.#host.offFull(this.#open);
    this.endOf(() => true, ENDPOINT_ENDED);
  }
}

function sessionIn({ url = "/" }: Pick<IncomingMessage, "url">): string {
  return new URL(url, "http://localhost").searchParams.get("sessionId") ?? "";
}

function end({ session, response }: SseClient, reason: MetaMcpError): void {
  session.dismiss(reason);
  response.end();
}
