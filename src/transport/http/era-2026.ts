/**
 * Requests of the stateless era over HTTP. Each POST gets its answer on its own response; closing the
 * response cancels the request.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import { PassingMap } from "../../kernel/passing.ts";
import type { Principal } from "../../kernel/principal.ts";
import { ERA_2026_VERSION } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { errorOf, INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { claimsEra2026 } from "../../session/era-2026/envelope.ts";
import type { StatelessHost } from "../../session/era-2026/stateless-host.ts";
import { LEGACY_VERSIONS } from "../../session/handshake.ts";
import type { HeldReplies } from "./held-replies.ts";
import { type Received, refuse } from "./http-server.ts";
import { Reply, type ReplyOwner } from "./reply.ts";
import type { UnreadResponses } from "./unread-responses.ts";

export interface Era2026HttpOptions {
  readonly clock: Clock;
  readonly heldReplies: HeldReplies;
  readonly unread: UnreadResponses;
  readonly json: boolean;
  /** The clients cannot be told apart, so state kept for one appears in no list. */
  readonly unlisted: boolean;
}

export class Era2026Http {
  readonly #era2026: StatelessHost;
  readonly #answers: ReplyOwner;
  readonly #streams: ReplyOwner;
  readonly #unlisted: boolean;
  readonly #open = new PassingMap<Reply, Principal>();

  constructor(era2026: StatelessHost, options: Era2026HttpOptions) {
    const done = (reply: Reply): void => void this.#open.delete(reply);
    this.#era2026 = era2026;
    this.#unlisted = options.unlisted;
    this.#answers = { ...options, log: () => undefined, done };
    this.#streams = { ...this.#answers, json: false };
  }

  /** Returns false if the message does not belong to this era. */
  take(message: Message, received: Received): boolean {
    const { request, response } = received;
    if (!isEra2026(message, request.headers)) return false;
    if (message.kind === "request") this.#serve(message, received);
    // This era defines no client notifications over HTTP, so they are accepted and ignored.
    else if (message.kind === "notification") response.writeHead(202).end();
    else refuse(response, 400, "this protocol version does not POST responses", INVALID_REQUEST);
    return true;
  }

  /** Writes to open streams, so that proxies keep them open and dead peers are detected. */
  heartbeat(): void {
    for (const reply of this.#open.keys()) reply.heartbeat();
  }

  /**
   * Answers the open requests and subscriptions of these principals with the error, and ends their calls
   * between two requests.
   */
  end(whose: (principal: Principal) => boolean, reason: Error): void {
    const error = errorOf(reason);
    for (const [reply, principal] of this.#open)
      if (whose(principal)) reply.send({ kind: "error", id: reply.id, error });
    this.#era2026.endOf(whose, reason.message);
  }

  #serve(message: Message & { kind: "request" }, { request, response, principal }: Received): void {
    const owner = message.method === "subscriptions/listen" ? this.#streams : this.#answers;
    const reply = new Reply(owner, response, message.id, 0);
    this.#open.set(reply, principal);
    reply.streamSoon();
    const served = this.#era2026.serve(message, {
      principal,
      unlisted: this.#unlisted,
      headers: request.headers,
      send: (answer, status) => reply.send(answer, status),
    });
    response.once("close", () => {
      this.#open.delete(reply);
      served.cancel("the client closed the stream of its request");
    });
  }
}

/** The era is named by the header, or by the body of a message that belongs to no session. */
export function isEra2026(message: Message, headers: IncomingHttpHeaders): boolean {
  if (namesEra2026(headers)) return true;
  const legacy = (LEGACY_VERSIONS as readonly unknown[]).includes(headers["mcp-protocol-version"]);
  return !(legacy && headers["mcp-session-id"] !== undefined) && claimsEra2026(message);
}

/** Versions are dates. Versions later than ours count as this era. */
export function namesEra2026({ "mcp-protocol-version": version }: IncomingHttpHeaders): boolean {
  return typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) && version >= ERA_2026_VERSION;
}
