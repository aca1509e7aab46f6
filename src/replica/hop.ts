/**
 * Passes a request on to another replica as it came, and its answer back to the client. One hop: the other
 * one never passes it on.
 */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { encodeEvent } from "../rpc/event-stream.ts";
import type { StrayRequest } from "../transport/http/owners.ts";
import type { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";

/** The path below which the internal listener takes forwarded requests. */
export const FORWARD = "/forward";
/** Headers between replicas. Those of a client are not passed on. */
export const FROM = "metamcp-replica-from";
export const TO = "metamcp-replica-to";
export const ADDRESS = "metamcp-replica-client";
/** The sender gives the session away, which it has had. */
export const RELEASED = "metamcp-replica-released";
/** The answer of a replica that does not have the session: who has it. */
export const OWNER = "metamcp-replica-owner";
/** The status of that answer. */
export const MISDIRECTED = 421;
/** The version of what replicas say to each other about a request. One that knows another version refuses. */
export const HOP = "metamcp-replica-hop";
export const HOP_VERSION = "1";
/** The status of that refusal. It has the same header. */
export const OTHER_VERSION = 501;

const OWN = /^(metamcp-replica-|sec-fetch-|proxy-)/;
/** Those that belong to one connection; and `Origin`, which the first replica has checked. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
  "origin",
  "x-forwarded-for",
]);

/** A replica that stopped answers what it has got within this time. */
const STOPPED_MS = 10_000;

/** What became of a request that was passed on. */
export type Passed =
  | { readonly as: "answered" }
  /** Another replica has the session; undefined: nobody, it may be taken up. */
  | { readonly as: "moved"; readonly owner: string | undefined }
  /** The other replica is of a version that passes requests on in another way. */
  | { readonly as: "incompatible" }
  /** Nothing was sent, or what was sent may be sent again. */
  | { readonly as: "unreachable"; readonly refuses: boolean };

export interface HopTarget {
  readonly id: string;
  /** HOST:PORT */
  readonly address: string;
}

export interface HopParts {
  readonly agent: ChannelAgent;
  readonly self: string;
  readonly addressOf: (request: IncomingMessage) => string;
}

export class Hop {
  readonly #parts: HopParts;
  /** Requests that wait for their answers, by replica. */
  readonly #open = new Map<string, Set<ClientRequest>>();

  constructor(parts: HopParts) {
    this.#parts = parts;
  }

  /** How many requests other replicas have answered. */
  passed = 0;
  readonly #relayed = new Set<StrayRequest["received"]>();

  /**
   * Number of requests that get their answers through this replica. Streams that answer none do not count.
   */
  get relaying(): number {
    return [...this.#relayed].filter(({ request }) => request.method !== "GET").length;
  }

  /** Ends the streams that answer no request. Their clients open them again at another replica. */
  endStreams(): void {
    for (const { request, response } of this.#relayed) if (request.method === "GET") response.end();
  }

  /** Never rejects. */
  pass(stray: StrayRequest, target: HopTarget, { released = false } = {}): Promise<Passed> {
    const { request, response } = stray.received;
    return new Promise((resolve) => {
      const outgoing = httpRequest({
        ...endpointOf(target.address),
        agent: this.#parts.agent,
        method: request.method,
        path: FORWARD + (request.url ?? "/"),
        headers: { ...this.#headersOf(stray, target), ...(released && { [RELEASED]: "1" }) },
      });
      const open = this.#track(target.id, outgoing);
      const closed = (): void => void outgoing.destroy();
      response.once("close", closed);
      let sent = false;
      const send = (): void => {
        if (outgoing.destroyed) return;
        sent = true;
        outgoing.end(stray.body);
      };
      outgoing.once("socket", (socket) => {
        if (outgoing.reusedSocket) afterEvents(send);
        else socket.once("secureConnect", send);
      });
      outgoing.once("response", (answer) => {
        if (answer.statusCode === MISDIRECTED) {
          answer.resume();
          response.off("close", closed);
          const owner = answer.headers[OWNER];
          // Without an owner the address reaches another replica than it should.
          if (typeof owner !== "string") resolve({ as: "unreachable", refuses: false });
          else resolve({ as: "moved", owner: owner === "" ? undefined : owner });
        } else if (answer.statusCode === OTHER_VERSION && answer.headers[HOP] !== undefined) {
          answer.resume();
          response.off("close", closed);
          resolve({ as: "incompatible" });
        } else {
          this.passed += 1;
          this.#relayed.add(stray.received);
          response.once("close", () => this.#relayed.delete(stray.received));
          // The connection is free for the next request then, and must not be closed with this response.
          answer.once("end", () => response.off("close", closed));
          relay(answer, stray);
          resolve({ as: "answered" });
        }
      });
      outgoing.once("error", (error: NodeJS.ErrnoException) => {
        open.delete(outgoing);
        response.off("close", closed);
        if (response.destroyed || (sent && !stray.harmless)) {
          endLost(response, stray.lost());
          resolve({ as: "answered" });
        } else resolve({ as: "unreachable", refuses: error.code === "ECONNREFUSED" });
      });
      outgoing.once("close", () => open.delete(outgoing));
    });
  }

  /**
   * The replica is dead: its requests get no answer any more. One that stopped still answers those that it
   * has.
   */
  gone(replica: string, { stopped }: { readonly stopped: boolean }): void {
    if (stopped) setTimeout(() => this.gone(replica, { stopped: false }), STOPPED_MS).unref();
    else this.#cut(replica);
  }

  #cut(replica: string): void {
    for (const outgoing of this.#open.get(replica) ?? []) outgoing.destroy(new Error("the replica is dead"));
    this.#open.delete(replica);
  }

  #track(replica: string, outgoing: ClientRequest): Set<ClientRequest> {
    const open = this.#open.get(replica) ?? new Set();
    this.#open.set(replica, open);
    open.add(outgoing);
    return open;
  }

  #headersOf({ received, body }: StrayRequest, target: HopTarget): Record<string, string | string[]> {
    const { request } = received;
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && !NOT_PASSED.has(name) && !OWN.test(name)) headers[name] = value;
    if (body) headers["content-length"] = String(body.length);
    headers[HOP] = HOP_VERSION;
    headers[FROM] = this.#parts.self;
    headers[TO] = target.id;
    headers[ADDRESS] = this.#parts.addressOf(request);
    return headers;
  }
}

/**
 * Runs after all events that are due now. If the replica at the other end of a kept connection has died, this
 * process hears of it before it sends a request there, whose outcome nobody would know.
 */
function afterEvents(run: () => void): void {
  setImmediate(() => setImmediate(run));
}

/**
 * Passes the answer to the client, with back-pressure. If the replica dies meanwhile, the client gets an
 * error as the end.
 */
function relay(answer: IncomingMessage, { received: { response }, lost }: StrayRequest): void {
  const { connection: _, "keep-alive": __, "transfer-encoding": ___, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers as Record<string, string>);
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  if (isStream) flushUnlessData(answer, response);
  answer.pipe(response, { end: false });
  answer.once("end", () => response.end());
  answer.once("error", () => {
    if (isStream && headers["content-length"] === undefined) endLost(response, lost());
    else response.destroy();
  });
}

/** The first event has often arrived together with the headers: then both leave together. */
function flushUnlessData(answer: IncomingMessage, response: ServerResponse): void {
  const flush = setImmediate(() => response.flushHeaders());
  answer.once("data", () => clearImmediate(flush));
}

/**
 * Answers a request whose outcome is not known. A stream that answers no request just ends: its client opens
 * it again.
 */
function endLost(response: ServerResponse, lost: Buffer | undefined): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) {
    if (lost) response.write(Buffer.concat(encodeEvent([lost])));
    response.end();
  } else if (lost)
    response.writeHead(200, { "content-type": "application/json", "content-length": lost.length }).end(lost);
  else response.writeHead(503, { "retry-after": "1" }).end();
}
