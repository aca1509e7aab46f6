/** Streamable HTTP: one path with POST, GET and DELETE; a session per client, or none at all. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Message } from "../../rpc/message.ts";
import { INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { LEGACY_VERSIONS } from "../../session/session.ts";
import type { Host, Transport } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { Client, type Surroundings } from "./client.ts";
import { LogBudget } from "./event-log.ts";
import { Front, type FrontOptions, refuse } from "./front.ts";
import { Holds } from "./holds.ts";
import { ModernHttp, namesModern } from "./modern.ts";
import { Unread } from "./unread.ts";

const MOST_SESSIONS = 10_000;
const BEAT_MS = 25_000;
const PATH = "/mcp";

// Made once: an error costs more than the rest of a request that ends with one.
const STOPPING = new MetaMcpError("cancelled", "MetaMCP is stopping");
const NOT_BEGUN = new MetaMcpError("cancelled", "its handshake failed");
const LEFT = new MetaMcpError("cancelled", "the client has its answer, or has left");

export interface StreamableOptions extends FrontOptions {
  readonly clock: Clock;
  readonly stateless: boolean;
  readonly jsonResponse: boolean;
  readonly sessionTimeoutMs: number;
  /** Told the whole URL once it listens. */
  onListening(url: string): void;
}

export function createStreamableTransport(options: StreamableOptions): Transport {
  let stop: () => Promise<void> = () => Promise.resolve();
  let close: () => Promise<void> = () => Promise.resolve();
  return {
    name: "streamable",
    info: `${options.host}:${options.port}${PATH}`,
    async serve(host) {
      const served = new Streamable(options, host);
      const front = new Front(options, host, (path, request, response) =>
        served.route(path, request, response),
      );
      stop = () => front.stop();
      close = async () => {
        served.end();
        await front.closeAll();
      };
      options.onListening(`${await front.listen()}${PATH}`);
      await front.over();
    },
    stop: () => stop(),
    close: () => close(),
  };
}

class Streamable {
  readonly #options: StreamableOptions;
  readonly #around: Surroundings;
  readonly #modern: ModernHttp;
  readonly #clients = new Map<string, Client>();
  #round: Timer;

  constructor(options: StreamableOptions, host: Host) {
    const { clock, jsonResponse: json, stateless } = options;
    const common = { clock, json, holds: new Holds(clock), unread: new Unread() };
    this.#options = options;
    this.#around = { ...common, host, stateless, budget: new LogBudget() };
    this.#modern = new ModernHttp(host.modern, common);
    this.#round = clock.after(this.#roundMs, () => this.#lookAround());
  }

  route(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (path !== PATH) return false;
    if (request.method === "POST") this.#post(request, response);
    else if (this.#options.stateless || namesModern(request.headers)) notAllowed(response, "POST");
    else if (request.method === "GET") this.#get(request, response);
    else if (request.method === "DELETE") this.#delete(request, response);
    else notAllowed(response, "GET, POST, DELETE");
    return true;
  }

  end(): void {
    this.#round.cancel();
    for (const client of this.#clients.values()) client.end(STOPPING);
    this.#clients.clear();
  }

  #post(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#acceptable(request.headers.accept)) {
      return refuse(response, 406, "accept must name application/json and text/event-stream");
    }
    readMessageOf(request, response, (message) => {
      if (!this.#modern.take(message, request, response)) this.#take(message, request, response);
    });
  }

  #take(message: Message, request: IncomingMessage, response: ServerResponse): void {
    const version = request.headers["mcp-protocol-version"];
    if (version !== undefined && !(LEGACY_VERSIONS as readonly unknown[]).includes(version)) {
      const known = LEGACY_VERSIONS.join(", ");
      return refuse(response, 400, `this protocol version is not spoken here; known: ${known}`);
    }
    if (this.#options.stateless) return this.#once(message, response);
    if (message.kind === "request" && message.method === "initialize")
      return this.#begin(message, request, response);
    const client = this.#clientOf(request, response);
    if (!client) return;
    if (message.kind === "request") {
      if (client.overloaded) refuse(response, 429, "too many requests of this session are under way");
      else client.request(message, response);
      return;
    }
    client.receive(message);
    response.writeHead(202).end();
  }

  /** A session exists for others to name only once its handshake was answered with a result. */
  #begin(
    message: Message & { kind: "request" },
    { headers }: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (headers["mcp-session-id"] !== undefined) {
      return refuse(response, 400, "this session is initialized already", INVALID_REQUEST);
    }
    if (!this.#ready(response)) return;
    if (this.#clients.size >= MOST_SESSIONS && !this.#makeRoom())
      return refuse(response, 503, "there are too many sessions");
    const client = new Client(this.#around);
    client.greet(message, response, (named) => {
      if (named) this.#clients.set(client.session.id, client);
      else client.end(NOT_BEGUN);
    });
  }

  /** No session: whoever asks is a stranger each time. */
  #once(message: Message, response: ServerResponse): void {
    if (message.kind !== "request") {
      response.writeHead(202).end();
      return;
    }
    if (!this.#ready(response)) return;
    const client = new Client(this.#around);
    client.request(message, response);
    // Without a session nobody can come back for the answer.
    response.once("close", () => client.end(LEFT));
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
    let idlest: Client | undefined;
    for (const client of this.#clients.values()) {
      const idle = client.idleFor(now);
      if (idle > longest) [longest, idlest] = [idle, client];
    }
    if (!idlest) return false;
    this.#clients.delete(idlest.session.id);
    idlest.end(new MetaMcpError("cancelled", "other sessions needed its place"));
    return true;
  }

  #get(request: IncomingMessage, response: ServerResponse): void {
    if (!request.headers.accept?.includes("text/event-stream")) {
      return refuse(response, 406, "accept must name text/event-stream");
    }
    const client = this.#clientOf(request, response);
    if (!client) return;
    const last = request.headers["last-event-id"];
    if (typeof last === "string") {
      if (!client.resume(last, response)) refuse(response, 400, "this event id is not known here (any more)");
    } else if (!client.listen(response)) refuse(response, 409, "this session has such a stream already");
  }

  #delete(request: IncomingMessage, response: ServerResponse): void {
    const client = this.#clientOf(request, response);
    if (!client) return;
    this.#clients.delete(client.session.id);
    client.end(new MetaMcpError("cancelled", "the client ended its session"));
    response.writeHead(204).end();
  }

  #clientOf({ headers }: IncomingMessage, response: ServerResponse): Client | undefined {
    const id = headers["mcp-session-id"];
    if (typeof id !== "string")
      refuse(response, 400, "an Mcp-Session-Id header is needed; initialize gives one");
    else {
      const client = this.#clients.get(id);
      if (client) return client;
      refuse(response, 404, "there is no such session (any more): initialize again", -32001);
    }
    return undefined;
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
    this.#modern.beat();
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
