/** Requests of the stateless era over HTTP: each POST is answered on its own response, and a client that closes it has cancelled. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Message } from "../../rpc/message.ts";
import { MODERN_VERSION } from "../../rpc/modern/names.ts";
import { INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { claimsModern, type Modern } from "../../session/modern/modern.ts";
import { LEGACY_VERSIONS } from "../../session/session.ts";
import { refuse } from "./front.ts";
import type { Holds } from "./holds.ts";
import { Reply, type ReplyOwner } from "./reply.ts";
import type { Unread } from "./unread.ts";

export interface ModernHttpOptions {
  readonly clock: Clock;
  readonly holds: Holds;
  readonly unread: Unread;
  readonly json: boolean;
}

export class ModernHttp {
  readonly #modern: Modern;
  readonly #answers: ReplyOwner;
  readonly #streams: ReplyOwner;
  readonly #open = new Set<Reply>();

  constructor(modern: Modern, options: ModernHttpOptions) {
    const done = (reply: Reply): void => void this.#open.delete(reply);
    this.#modern = modern;
    this.#answers = { ...options, log: () => undefined, done };
    this.#streams = { ...this.#answers, json: false };
  }

  /** False: it is not of this era. */
  take(message: Message, { headers }: IncomingMessage, response: ServerResponse): boolean {
    if (!isModern(message, headers)) return false;
    if (message.kind === "request") this.#serve(message, headers, response);
    // This era has no notifications of clients over HTTP: what comes all the same means nothing.
    else if (message.kind === "notification") response.writeHead(202).end();
    else refuse(response, 400, "answers are not posted in this protocol version", INVALID_REQUEST);
    return true;
  }

  /** Proxies and dead peers are found out by writing. */
  beat(): void {
    for (const reply of this.#open) reply.beat();
  }

  #serve(
    message: Message & { kind: "request" },
    headers: IncomingHttpHeaders,
    response: ServerResponse,
  ): void {
    const owner = message.method === "subscriptions/listen" ? this.#streams : this.#answers;
    const reply = new Reply(owner, response, message.id, 0);
    this.#open.add(reply);
    reply.streamSoon();
    const served = this.#modern.serve(message, {
      caller: callerOf(headers),
      headers,
      send: (answer, status) => reply.send(answer, status),
    });
    response.once("close", () => {
      this.#open.delete(reply);
      served.cancel("the client closed the stream of its request");
    });
  }
}

/** Named by the header, or by the body of a message that belongs to no session. */
function isModern(message: Message, headers: IncomingHttpHeaders): boolean {
  if (namesModern(headers)) return true;
  const legacy = (LEGACY_VERSIONS as readonly unknown[]).includes(headers["mcp-protocol-version"]);
  return !(legacy && headers["mcp-session-id"] !== undefined) && claimsModern(message);
}

/** Versions are dates. One to come is of this era until it is known better. */
export function namesModern({ "mcp-protocol-version": version }: IncomingHttpHeaders): boolean {
  return typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) && version >= MODERN_VERSION;
}

/** Those who show the same credential are the same to us. */
function callerOf({ authorization = "" }: IncomingHttpHeaders): string {
  return authorization && createHash("sha256").update(authorization).digest("hex");
}
