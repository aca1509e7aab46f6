/**
 * Streamable HTTP of one endpoint: POST, GET and DELETE. Each client has a session, unless the endpoint is
 * stateless. Does not route by path.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { PassingMap, PassingSet } from "../../kernel/passing.ts";
import { type Principal, shareOf } from "../../kernel/principal.ts";
import { readBatch } from "../../rpc/batch.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import { LEGACY_VERSIONS } from "../../session/handshake.ts";
import type { Session } from "../../session/session.ts";
import { CREDENTIALS_REVOKED, ENDPOINT_ENDED, SESSION_ENDED, SESSION_MOVED } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { Era2026Http, namesEra2026 } from "./era-2026.ts";
import { LogBudget } from "./event-log.ts";
import { HeldReplies } from "./held-replies.ts";
import { type Received, refuse, refuseMessage, refuseTooMany, whenKnown } from "./http-server.ts";
import { HttpSession, type TransportParts } from "./http-session.ts";
import type { Owners } from "./owners.ts";
import { SessionFinder, type SessionRequest } from "./session-finder.ts";
import { SessionTable } from "./session-table.ts";
import { UnreadResponses } from "./unread-responses.ts";

const TOO_MANY = "this session has too many requests in flight";
/** Requests that change the state of a session. */
const NEEDS_SESSION: ReadonlySet<string> = new Set([
  "resources/subscribe",
  "resources/unsubscribe",
  "logging/setLevel",
]);

// Created once, because creating an error costs more than the rest of the request.
const HANDSHAKE_FAILED = new MetaMcpError("cancelled", "its handshake failed");
const RESPONSE_CLOSED = new MetaMcpError("cancelled", "the client got its answer or left");

export interface StreamableSettings {
  readonly clock: Clock;
  readonly stateless: boolean;
  readonly jsonResponse: boolean;
  readonly sessionTimeoutMs: number;
  /** Open streams get a comment at least this often. */
  readonly heartbeatMs: number;
  /** Undefined if no other process has sessions of this endpoint. */
  readonly owners?: Owners | undefined;
}

export class StreamableEndpoint {
  readonly #options: StreamableSettings;
  readonly #parts: TransportParts;
  readonly #era2026: Era2026Http;
  readonly #sessions: SessionTable;
  readonly #finder: SessionFinder;
  /** Clients whose handshake is in progress, and clients of a stateless endpoint. */
  readonly #unnamed = new PassingSet<HttpSession>();
  /** Requests whose body is not complete. */
  readonly #arriving = new PassingMap<ServerResponse, Principal>();
  /** For requests without a session id. */
  readonly #sessionlessParts: TransportParts;

  constructor(options: StreamableSettings, host: Host) {
    const { clock, jsonResponse: json, stateless, owners } = options;
    const common = { clock, json, heldReplies: new HeldReplies(clock), unread: new UnreadResponses() };
    this.#options = options;
    this.#parts = { ...common, host, stateless, owners, budget: new LogBudget() };
    this.#sessionlessParts = { ...this.#parts, stateless: true };
    this.#era2026 = new Era2026Http(host.era2026, { ...common, unlisted: stateless });
    const onHeartbeat = (): void => {
      this.#era2026.heartbeat();
      for (const client of this.#unnamed) client.heartbeat();
    };
    this.#sessions = new SessionTable(host, {
      ...options,
      onHeartbeat,
      onEnded: owners && ((session) => owners.ended(session)),
    });
    this.#finder = new SessionFinder(this.#parts, this.#sessions);
  }

  handle(received: Received): void {
    const { request, response } = received;
    if (request.method === "POST") this.#post(received);
    else if (this.#options.stateless || namesEra2026(request.headers)) notAllowed(response, "POST");
    else if (request.method === "GET") this.#get(received);
    else if (request.method === "DELETE") this.#delete(received);
    else notAllowed(response, "GET, POST, DELETE");
  }

  end(): void {
    this.#sessions.stop();
    this.endOf(() => true, ENDPOINT_ENDED);
  }

  /** Ends all sessions and requests of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const [response, principal] of this.#arriving)
      if (whose(principal) && this.#arriving.delete(response))
        refuse(response, reason === CREDENTIALS_REVOKED ? 401 : 404, reason.message);
    for (const client of this.#unnamed)
      if (whose(client.principal) && this.#unnamed.delete(client)) client.end(reason);
    this.#era2026.end(whose, reason);
    this.#sessions.endOf(whose, reason);
  }

  /** The ids of its sessions. */
  get sessions(): readonly string[] {
    return this.#sessions.ids;
  }

  /**
   * Ends sessions here that go on in other processes. Returns how many are left, with the requests that wait
   * for one, and the calls whose clients have been asked something: only this process can go on with those.
   */
  release(which: (session: Session) => boolean): number {
    const left = this.#sessions.releaseAll(({ session }) => which(session), SESSION_MOVED);
    return left + this.#finder.waiting + this.#parts.host.era2026.parked;
  }

  /** Returns false if there is no such session. */
  endSession(id: string): boolean {
    return this.#sessions.endSession(id, SESSION_ENDED);
  }

  #post(received: Received): void {
    const { request, response } = received;
    if (!this.#acceptable(request.headers.accept)) {
      return refuse(response, 406, "accept must name application/json and text/event-stream");
    }
    this.#arriving.set(response, received.principal);
    const arrived = (): void => void this.#arriving.delete(response);
    response.once("close", arrived);
    readMessageOf(
      received,
      (message, body) => {
        arrived();
        const asked = { message, received, body };
        if (!this.#finder.passOn(asked, () => this.#takeHere(asked))) this.#takeHere(asked);
      },
      (body, malformed) => {
        arrived();
        return this.#takeBatch(body, malformed, received);
      },
    );
  }

  #takeHere(asked: SessionRequest & { readonly message: Message }): void {
    const { message, received } = asked;
    const counts = message.kind === "request" && !this.#finder.isStray(received);
    whenKnown(counts ? this.#parts.host.askFor?.("inFlight") : undefined, received.response, () => {
      if (message.kind === "request" && this.#full(received)) this.#refuseTooMany([message], received);
      else if (!this.#era2026.take(message, received)) this.#take(asked);
    });
  }

  /** The limit counts where a request is served. */
  #full(received: Received): boolean {
    return this.#parts.host.full("inFlight") && !this.#finder.isStray(received);
  }

  /** Returns false if the body is not a batch, or the client's protocol version has no batches. */
  #takeBatch(body: Buffer, malformed: Malformed, received: Received): boolean {
    const client = this.#sessions.find(received);
    if (!client?.session.batches && !this.#finder.isStray(received)) return false;
    const messages = readBatch(body, malformed);
    if (!messages) return false;
    if ("kind" in messages) refuseMessage(received.response, messages);
    else
      this.#finder.serve({ received, body, message: messages }, (found) => {
        if (found.session.batches) this.#serveBatch(found, messages, received);
        else refuseMessage(received.response, malformed);
      });
    return true;
  }

  #serveBatch(client: HttpSession, messages: readonly (Message | Malformed)[], received: Received): void {
    const requests = messages.filter(({ kind }) => kind === "request").length;
    if (client.overloaded(requests)) this.#refuseTooMany(messages, received, TOO_MANY);
    else
      whenKnown(this.#parts.host.askFor?.("inFlight", requests), received.response, () => {
        if (requests > 0 && this.#parts.host.full("inFlight", requests))
          this.#refuseTooMany(messages, received);
        else client.batch(messages, received.response);
      });
  }

  #take(asked: SessionRequest & { readonly message: Message }): void {
    const { message, received } = asked;
    const { request, response } = received;
    const version = request.headers["mcp-protocol-version"];
    if (version !== undefined && !(LEGACY_VERSIONS as readonly unknown[]).includes(version)) {
      const known = LEGACY_VERSIONS.join(", ");
      return refuse(response, 400, `this protocol version is not supported; supported: ${known}`);
    }
    const begins = message.kind === "request" && message.method === "initialize";
    if (this.#options.stateless || begins || request.headers["mcp-session-id"] === undefined) {
      const serve = (): void => this.#takeWithoutSession(message, received);
      if (!this.#finder.handOver(asked, serve)) serve();
      return;
    }
    if (this.#finder.isHere(asked)) return this.#takeStateless(message, received);
    this.#finder.serve(asked, (client) => {
      if (message.kind === "request") {
        if (client.overloaded(1)) this.#refuseTooMany([message], received, TOO_MANY);
        else client.request(message, response);
        return;
      }
      client.receive(message);
      response.writeHead(202).end();
    });
  }

  #takeWithoutSession(message: Message, received: Received): void {
    if (this.#options.stateless) this.#takeStateless(message, received);
    else if (message.kind === "request" && message.method === "initialize") this.#begin(message, received);
    else this.#takeSessionless(message, received);
  }

  /** Refuses with 429. The default reason is the endpoint's limit of requests in flight. */
  #refuseTooMany(messages: readonly (Message | Malformed)[], received: Received, reason?: string): void {
    const { response, principal } = received;
    const session = this.#sessions.find(received)?.session;
    for (const message of messages) this.#parts.host.recordOverLimit(message, principal, session);
    if (reason === undefined) refuseTooMany(response, "requests");
    else refuse(response, 429, reason);
  }

  /**
   * Opens a session, also for a client that names another one: it may have lost its state. Requests can name
   * the session only after its handshake succeeded.
   */
  #begin(message: Message & { kind: "request" }, received: Received): void {
    const asked = this.#parts.host.askFor?.("sessions");
    whenKnown(asked, received.response, () => this.#beginHere(message, received));
  }

  #beginHere(message: Message & { kind: "request" }, received: Received): void {
    const { response, principal } = received;
    if (!this.#ready(response)) return;
    const owner = shareOf(principal);
    if (!this.#parts.host.makeRoom(owner)) return refuseTooMany(response, "sessions");
    if (!this.#sessions.makeRoom(owner)) return refuse(response, 503, "there are too many sessions");
    const client = new HttpSession(this.#parts, principal, owner);
    this.#unnamed.add(client);
    client.initialize(message, response, (named) => {
      if (!this.#unnamed.delete(client)) return;
      if (named) this.#sessions.add(client);
      else client.end(HANDSHAKE_FAILED);
    });
  }

  /** Serves a message without a session id, unless it makes sense only within a session. */
  #takeSessionless(message: Message, received: Received): void {
    const needsSession =
      message.kind === "request" ? NEEDS_SESSION.has(message.method) : message.kind !== "notification";
    if (!needsSession) return this.#takeStateless(message, received);
    const what = message.kind === "request" ? message.method : "an answer";
    refuse(
      received.response,
      400,
      `${what} needs a session: send the Mcp-Session-Id that initialize returned`,
    );
  }

  /**
   * Serves a message without a session: each request has a session of its own, which ends with the response.
   */
  #takeStateless(message: Message, received: Received): void {
    const { response, principal } = received;
    if (message.kind !== "request") {
      response.writeHead(202).end();
      return;
    }
    if (!this.#ready(response)) return;
    const client = new HttpSession(this.#sessionlessParts, principal, shareOf(principal));
    this.#unnamed.add(client);
    client.request(message, response);
    // The client has no session id, so it cannot resume the stream.
    response.once("close", () => {
      if (this.#unnamed.delete(client)) client.end(RESPONSE_CLOSED);
    });
  }

  #ready(response: ServerResponse): boolean {
    const ready = this.#parts.host.ready;
    if (!ready) refuse(response, 503, "MetaMCP is stopping");
    return ready;
  }

  #get(received: Received): void {
    const { request, response } = received;
    if (!request.headers.accept?.includes("text/event-stream")) {
      return refuse(response, 406, "accept must name text/event-stream");
    }
    this.#finder.serve({ received }, (client) => {
      const last = request.headers["last-event-id"];
      if (typeof last === "string") {
        if (!client.resume(last, response)) refuse(response, 400, "this event id is unknown or expired");
      } else if (!client.listen(response)) refuse(response, 409, "this session already has such a stream");
    });
  }

  #delete(received: Received): void {
    this.#finder.serve({ received }, (client) => {
      this.#sessions.endClient(client, new MetaMcpError("cancelled", "the client ended its session"));
      received.response.writeHead(204).end();
    });
  }

  #acceptable(accept: string | undefined): boolean {
    if (accept === undefined || accept.includes("*/*")) return true;
    return (
      accept.includes("application/json") &&
      (this.#options.jsonResponse || accept.includes("text/event-stream"))
    );
  }
}

function notAllowed(response: ServerResponse, allowed: string): void {
  response.setHeader("allow", allowed);
  refuse(response, 405, `only ${allowed} here`);
}
