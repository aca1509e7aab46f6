/**
 * The deprecated HTTP+SSE transport of one endpoint: an event stream per client, and a path to POST messages
 * to.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { YieldingSessions } from "../../kernel/concurrency-limiter.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EVENT_STREAM } from "../../kernel/event-stream-headers.ts";
import { ANONYMOUS, type Principal, samePrincipal, shareOf } from "../../kernel/principal.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { sharedSession } from "../../kernel/yielding-session.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Session, Traced } from "../../session/session.ts";
import { ENDPOINT_ENDED, NO_ROOM, SESSION_ENDED } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { fail, type Received, refuse, refuseTooMany, whenKnown } from "./http-server.ts";
import type { Owners } from "./owners.ts";
import { writeOrCut } from "./unread-responses.ts";

const MAX_SESSIONS = 10_000;
const UNKNOWN_SESSION = "there is no such session: open the event stream first";

export interface SseSettings {
  readonly clock: Clock;
  /** Open streams get a comment this often. */
  readonly heartbeatMs: number;
  /** The path for POST that the first event names. */
  readonly messagePath: string;
  /** Undefined if no other process has sessions of this endpoint. */
  readonly owners?: Owners | undefined;
}

interface SseClient {
  /** The id in the path for its messages. */
  readonly id: string;
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
  readonly #settings: SseSettings;
  readonly #clients = new Map<string, SseClient>();
  #heartbeat: Timer;

  constructor(host: Host, settings: SseSettings) {
    this.#host = host;
    this.#settings = settings;
    this.#heartbeat = this.#nextHeartbeat();
    host.onFull(this.#open);
  }

  listen(received: Received): void {
    const { response } = received;
    whenKnown(this.#host.askFor?.("sessions"), response, () => this.#listen(received));
  }

  #listen(received: Received): void {
    const { request, response, principal } = received;
    const host = this.#host;
    const owner = shareOf(principal);
    if (!host.ready) return refuse(response, 503, "MetaMCP is stopping");
    if (!host.makeRoom(owner)) return refuseTooMany(response, "sessions");
    if (!this.#makeRoom(owner)) return refuse(response, 503, "there are too many sessions");
    const session = host.open((message) => {
      writeOrCut(response, Buffer.concat(encodeEvent(encode(message), undefined, "message")));
    }, principal);
    const { authorization, "x-api-key": key } = request.headers;
    const byUrl = principal.kind !== "anonymous" && authorization === undefined && key === undefined;
    const { owners, messagePath } = this.#settings;
    const id = owners?.idFor(session.id, byUrl ? ANONYMOUS : principal) ?? session.id;
    this.#clients.set(id, { id, session, principal, response, owner, byUrl });
    response.once("close", () => {
      this.#clients.delete(id);
      session.destroy(new MetaMcpError("cancelled", "the client closed its stream"));
      host.ended(session);
    });
    response.writeHead(200, EVENT_STREAM);
    response.write(`event: endpoint\ndata: ${messagePath}?sessionId=${id}\n\n`);
  }

  /**
   * The sender of a message without credentials, if its session was opened with the credential in the URL.
   * The id of the session is as secret as the credential, and the session ends with it.
   */
  senderOf(request: Pick<IncomingMessage, "url">): Principal | undefined {
    const id = sessionIn(request);
    const client = this.#clients.get(id);
    if (client) return client.byUrl ? client.principal : undefined;
    // The replica that has the session knows the sender.
    return this.#settings.owners?.knows(id, ANONYMOUS) ? ANONYMOUS : undefined;
  }

  take(received: Received): void {
    const { request, response, principal } = received;
    const client = this.#clients.get(sessionIn(request));
    if (!client) return this.#takeStray(received);
    if (!samePrincipal(client.principal, principal)) return refuseUnknown(response);
    readMessageOf(received, (message) => {
      // The session may have ended while the message arrived.
      if (client.response.writableEnded) return refuseUnknown(response);
      const asked = message.kind === "request" ? this.#host.askFor?.("inFlight") : undefined;
      whenKnown(asked, response, () => {
        if (message.kind === "request" && this.#host.full("inFlight")) {
          this.#host.recordOverLimit(message, principal, client.session);
          return refuseTooMany(response, "requests");
        }
        client.session.receive(message, { trace: traceHeadersIn(request.headers) } satisfies Traced);
        response.writeHead(202).end("Accepted");
      });
    });
  }

  /** The session may be at another replica. It cannot go on elsewhere, because it ends with its stream. */
  #takeStray(received: Received): void {
    const { owners } = this.#settings;
    const { request, response } = received;
    if (!owners) return refuseUnknown(response);
    readMessageOf(received, (_, body) => {
      const stray = { received, id: sessionIn(request), body, harmless: false, lost: () => undefined };
      owners.find(stray).then(
        (found) => found !== "answered" && refuseUnknown(response),
        () => fail(response),
      );
    });
  }

  /** Ends all sessions of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const client of this.#clients.values()) if (whose(client.principal)) end(client, reason);
  }

  /** Returns false if there is no such session. */
  endSession(id: string): boolean {
    const client = [...this.#clients.values()].find(({ session }) => session.id === id);
    if (client) end(client, SESSION_ENDED);
    return client !== undefined;
  }

  #nextHeartbeat(): Timer {
    const { clock, heartbeatMs } = this.#settings;
    return clock.after(heartbeatMs, () => {
      for (const { response } of this.#clients.values())
        if (response.writableLength === 0) response.write(": \n\n");
      this.#heartbeat = this.#nextHeartbeat();
    });
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
        this.#clients.delete(client.id);
        end(client, NO_ROOM);
        this.#host.ended(client.session);
      },
    }));

  end(): void {
    this.#heartbeat.cancel();
    this.#host.offFull(this.#open);
    this.endOf(() => true, ENDPOINT_ENDED);
  }
}

function refuseUnknown(response: ServerResponse): void {
  refuse(response, 404, UNKNOWN_SESSION, -32001);
}

function sessionIn({ url = "/" }: Pick<IncomingMessage, "url">): string {
  return new URL(url, "http://localhost").searchParams.get("sessionId") ?? "";
}

function end({ session, response }: SseClient, reason: MetaMcpError): void {
  session.dismiss(reason);
  response.end();
}
