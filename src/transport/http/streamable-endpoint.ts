/** Streamable HTTP of one endpoint, whatever its path: POST, GET and DELETE; a session per client, or none at all. */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { isMeant, type Principal, samePrincipal } from "../../kernel/principal.ts";
import { readBatch } from "../../rpc/batch.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import { INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { LEGACY_VERSIONS } from "../../session/session.ts";
import { ENDED, OVER, REVOKED } from "../ended.ts";
import type { Host } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { Era2026Http, namesEra2026 } from "./era-2026.ts";
import { LogBudget } from "./event-log.ts";
import { type Received, refuse, refuseFor, refuseMessage } from "./front.ts";
import { HeldReplies } from "./held-replies.ts";
import { HttpSession, type TransportParts } from "./http-session.ts";
import { Unread } from "./unread.ts";

const MOST_SESSIONS = 10_000;
const TOO_MANY = "this session has too many requests in flight";
const BEAT_MS = 25_000;

// Made once: an error costs more than the rest of a request that ends with one.
const NOT_BEGUN = new MetaMcpError("cancelled", "its handshake failed");
const LEFT = new MetaMcpError("cancelled", "the client got its answer or left");

export interface StreamableSettings {
  readonly clock: Clock;
  readonly stateless: boolean;
  readonly jsonResponse: boolean;
  readonly sessionTimeoutMs: number;
}

export class StreamableEndpoint {
  readonly #options: StreamableSettings;
  readonly #around: TransportParts;
  readonly #era2026: Era2026Http;
  readonly #clients = new Map<string, HttpSession>();
  /** Those whose handshake is under way, and those without a session. */
  readonly #unnamed = new Set<HttpSession>();
  /** Requests that have not come as a whole. */
  readonly #arriving = new Map<ServerResponse, Principal>();
  #round: Timer;

  constructor(options: StreamableSettings, host: Host) {
    const { clock, jsonResponse: json, stateless } = options;
    const common = { clock, json, heldReplies: new HeldReplies(clock), unread: new Unread() };
    this.#options = options;
    this.#around = { ...common, host, stateless, budget: new LogBudget() };
    this.#era2026 = new Era2026Http(host.era2026, { ...common, unlisted: stateless });
    this.#round = clock.after(this.#roundMs, () => this.#lookAround());
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
    this.#round.cancel();
    this.#end(() => true, OVER);
  }

  /** Nothing of this principal goes on. */
  endOf(meant: Principal): void {
    this.#end((principal) => isMeant(meant, principal), REVOKED);
  }

  /** False: there is no such session. */
  endSession(id: string): boolean {
    const client = this.#clients.get(id);
    if (!client) return false;
    this.#clients.delete(id);
    client.end(ENDED);
    return true;
  }

  #end(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const [response, principal] of this.#arriving)
      if (whose(principal) && this.#arriving.delete(response))
        refuse(response, reason === REVOKED ? 401 : 404, reason.message);
    for (const client of this.#unnamed)
      if (whose(client.principal) && this.#unnamed.delete(client)) client.end(reason);
    this.#era2026.end(whose, reason);
    for (const [id, client] of this.#clients) {
      if (!whose(client.principal)) continue;
      this.#clients.delete(id);
      client.end(reason);
    }
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
      request,
      response,
      (message) => {
        arrived();
        if (message.kind === "request" && this.#around.host.full("inFlight"))
          this.#turnAway([message], received);
        else if (!this.#era2026.take(message, received)) this.#take(message, received);
      },
      (body, malformed) => {
        arrived();
        return this.#takeBatch(body, malformed, received);
      },
    );
  }

  /** False: it is none, or the client's revision has none. */
  #takeBatch(body: Buffer, malformed: Malformed, received: Received): boolean {
    const { response } = received;
    const client = this.#known(received);
    const messages = client?.session.batches ? readBatch(body, malformed) : undefined;
    if (!client || !messages) return false;
    if ("kind" in messages) refuseMessage(response, messages);
    else if (client.overloaded) this.#turnAway(messages, received, TOO_MANY);
    else if (this.#around.host.full("inFlight")) this.#turnAway(messages, received);
    else client.batch(messages, response);
    return true;
  }

  #take(message: Message, received: Received): void {
    const { request, response } = received;
    const version = request.headers["mcp-protocol-version"];
    if (version !== undefined && !(LEGACY_VERSIONS as readonly unknown[]).includes(version)) {
      const known = LEGACY_VERSIONS.join(", ");
      return refuse(response, 400, `this protocol version is not supported; supported: ${known}`);
    }
    if (this.#options.stateless) return this.#once(message, received);
    if (message.kind === "request" && message.method === "initialize") return this.#begin(message, received);
    const client = this.#clientOf(received);
    if (!client) return;
    if (message.kind === "request") {
      if (client.overloaded) this.#turnAway([message], received, TOO_MANY);
      else client.request(message, response);
      return;
    }
    client.receive(message);
    response.writeHead(202).end();
  }

  /** As many are under way as may be: at the endpoint, unless it is said of what. */
  #turnAway(messages: readonly (Message | Malformed)[], received: Received, reason?: string): void {
    const { response, principal } = received;
    const session = this.#known(received)?.session;
    for (const message of messages) this.#around.host.turnedAway(message, principal, session);
    if (reason === undefined) refuseFor(response, "requests");
    else refuse(response, 429, reason);
  }

  /** A session exists for others to name only once its handshake was answered with a result. */
  #begin(message: Message & { kind: "request" }, { request, response, principal }: Received): void {
    if (request.headers["mcp-session-id"] !== undefined) {
      return refuse(response, 400, "this session is already initialized", INVALID_REQUEST);
    }
    if (!this.#ready(response)) return;
    if (this.#around.host.full("sessions")) return refuseFor(response, "sessions");
    if (this.#clients.size >= MOST_SESSIONS && !this.#makeRoom())
      return refuse(response, 503, "there are too many sessions");
    const client = new HttpSession(this.#around, principal);
    this.#unnamed.add(client);
    client.greet(message, response, (named) => {
      if (!this.#unnamed.delete(client)) return;
      if (named) this.#clients.set(client.session.id, client);
      else client.end(NOT_BEGUN);
    });
  }

  /** No session: whoever asks is a stranger each time. */
  #once(message: Message, { response, principal }: Received): void {
    if (message.kind !== "request") {
      response.writeHead(202).end();
      return;
    }
    if (!this.#ready(response)) return;
    const client = new HttpSession(this.#around, principal);
    this.#unnamed.add(client);
    client.request(message, response);
    // Without a session nobody can come back for the answer.
    response.once("close", () => {
      if (this.#unnamed.delete(client)) client.end(LEFT);
    });
  }

  #ready(response: ServerResponse): boolean {
    const ready = this.#around.host.ready;
    if (!ready) refuse(response, 503, "MetaMCP is stopping");
    return ready;
  }

  /** Ends the session that was idle for longest. False: none is. */
  #makeRoom(): boolean {
    const now = this.#options.clock.now();
    let longest = 0;
    let idlest: HttpSession | undefined;
    for (const client of this.#clients.values()) {
      const idle = client.idleFor(now);
      if (idle > longest) [longest, idlest] = [idle, client];
    }
    if (!idlest) return false;
    this.#clients.delete(idlest.session.id);
    idlest.end(new MetaMcpError("cancelled", "there were too many sessions"));
    return true;
  }

  #get(received: Received): void {
    const { request, response } = received;
    if (!request.headers.accept?.includes("text/event-stream")) {
      return refuse(response, 406, "accept must name text/event-stream");
    }
    const client = this.#clientOf(received);
    if (!client) return;
    const last = request.headers["last-event-id"];
    if (typeof last === "string") {
      if (!client.resume(last, response)) refuse(response, 400, "this event id is unknown or expired");
    } else if (!client.listen(response)) refuse(response, 409, "this session already has such a stream");
  }

  #delete(received: Received): void {
    const client = this.#clientOf(received);
    if (!client) return;
    this.#clients.delete(client.session.id);
    client.end(new MetaMcpError("cancelled", "the client ended its session"));
    received.response.writeHead(204).end();
  }

  /** Undefined: it has been refused. */
  #clientOf(received: Received): HttpSession | undefined {
    const client = this.#known(received);
    if (client) return client;
    const { request, response } = received;
    if (request.headers["mcp-session-id"] === undefined)
      refuse(response, 400, "an Mcp-Session-Id header is required; initialize returns one");
    else refuse(response, 404, "unknown or expired session: initialize again", -32001);
    return undefined;
  }

  /** To everyone but who began it a session does not exist. */
  #known({ request, principal }: Received): HttpSession | undefined {
    const client = this.#clients.get(String(request.headers["mcp-session-id"]));
    return client && samePrincipal(client.principal, principal) ? client : undefined;
  }

  #acceptable(accept: string | undefined): boolean {
    if (accept === undefined || accept.includes("*/*")) return true;
    return (
      accept.includes("application/json") &&
      (this.#options.jsonResponse || accept.includes("text/event-stream"))
    );
  }

  get #roundMs(): number {
    return Math.min(BEAT_MS, Math.max(100, this.#options.sessionTimeoutMs / 4));
  }

  /** Ends what was idle for too long, and writes to streams so that dead ones are noticed. */
  #lookAround(): void {
    const { clock, sessionTimeoutMs } = this.#options;
    const now = clock.now();
    this.#era2026.beat();
    for (const [id, client] of this.#clients) {
      if (client.idleFor(now) < sessionTimeoutMs) client.beat();
      else {
        this.#clients.delete(id);
        client.end(new MetaMcpError("cancelled", "the session was idle for too long"));
      }
    }
    this.#round = clock.after(this.#roundMs, () => this.#lookAround());
  }
}

function notAllowed(response: ServerResponse, allowed: string): void {
  response.setHeader("allow", allowed);
  refuse(response, 405, `only ${allowed} here`);
}
