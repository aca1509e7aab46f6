/** What a connector gives: an open way to one child, before any handshake. Who dials is in stdio/ and http/. */
import type { ServerSpec } from "../config/spec.ts";
import type { Message } from "../rpc/message.ts";
import type { Via } from "../rpc/peer.ts";

export type Category = "auth" | "offline" | "http" | "stdio-exit" | "other";

/** Why a child could not be reached or was lost. Classified where the fact is known; nobody above reads texts. */
export class ChildFailure extends Error {
  override readonly name = "ChildFailure";
  readonly category: Category;
  /** The request certainly never reached the child: it may go to a new connection. */
  readonly unsent: boolean;
  /** The server forgot our HTTP session. It is opened again unasked and counts as no failure. */
  readonly sessionLost: boolean;
  /** The `WWW-Authenticate` header of a 401 or 403. */
  readonly challenge: string | undefined;
  /** The server takes no more requests for now and did nothing; with how long it asks to wait, where it says so. */
  readonly limited: { readonly retryAfterMs?: number } | undefined;

  constructor(
    category: Category,
    message: string,
    more: Partial<Pick<ChildFailure, "unsent" | "sessionLost" | "challenge" | "limited" | "cause">> = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.category = category;
    this.unsent = more.unsent ?? false;
    this.sessionLost = more.sessionLost ?? false;
    this.challenge = more.challenge;
    this.limited = more.limited;
  }
}

export type HeadersOf = (message: Message) => Readonly<Record<string, string>>;

/** Who listens to a link. */
export interface LinkEvents {
  /** `via` names our request on whose HTTP stream the message came; undefined where a stream is shared, as on stdio. */
  onMessage(message: Message, via: Via): void;
  /** One request of ours (by the id it was sent with) failed; the link lives on. HTTP only. */
  onFailed(id: number, failure: ChildFailure): void;
  /** The link is dead; nothing comes after. Not called after `close()`. Called exactly once. */
  onClosed(failure: ChildFailure): void;
}

export interface Link {
  /** Queues a message; small ones are coalesced into one write. Never throws; a failure arrives as an event. */
  send(message: Message, via?: Via, alone?: boolean): void;
  /** The protocol version agreed in the handshake: HTTP sends it as a header from then on. */
  agreed(protocolVersion: string): void;
  /**
   * The stateless era is spoken from now on: these headers go with each message, and to cancel is to close the stream.
   * Undefined takes it back. Only where there are headers.
   */
  stateless?(headersOf: HeadersOf | undefined): void;
  /** What it last had to say about why it takes long (a line of stderr), for a person. */
  lastWords(): string | undefined;
  /** Ends it; resolves when nothing of it is left, grandchildren included. Safe to call twice. */
  close(): Promise<void>;
  /** Who is at the other end, for a person: "pid 123", a URL. */
  readonly peer: string;
  /** Of its process, where it has one. */
  readonly pid?: number | undefined;
}

export interface Connector {
  /** Opens a link; rejects with ChildFailure. Aborting ends whatever was begun, completely. */
  open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link>;
}

/** How a connection was lost. `counted`: the failure behind it is recorded already. */
export interface Loss {
  readonly failure: ChildFailure;
  readonly counted: boolean;
}
