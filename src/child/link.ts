/**
 * A link is an open transport to one child, before any handshake. Each connector has a folder beside this
 * file; engine/connectors.ts chooses one.
 */
import type { ServerSpec } from "../config/spec.ts";
import type { Message } from "../rpc/message.ts";
import type { Via } from "../rpc/peer.ts";

export type Category = "auth" | "offline" | "http" | "stdio-exit" | "other";

/**
 * Why a child could not be reached or was lost. Classified where the fact is known; no other code reads the
 * message text.
 */
export class ChildFailure extends Error {
  override readonly name = "ChildFailure";
  readonly category: Category;
  /** The request certainly did not reach the child, so it may be sent on a new connection. */
  readonly unsent: boolean;
  /** Trying again cannot help: a person must first fix what the message names. */
  readonly needsFix: boolean;
  /**
   * The server no longer knows our HTTP session. A new one is opened automatically, and this does not count
   * as a failure.
   */
  readonly sessionLost: boolean;
  /** The `WWW-Authenticate` header of a 401 or 403. */
  readonly challenge: string | undefined;
  /**
   * The server refused the request because of a rate limit and did nothing. `retryAfterMs` is its advice, if
   * it gave one.
   */
  readonly limited: { readonly retryAfterMs?: number } | undefined;
  /**
   * What the process printed last, if it is not part of the message. Only for people who may read the output
   * of servers.
   */
  readonly output: string | undefined;

  constructor(
    category: Category,
    message: string,
    more: Partial<
      Pick<ChildFailure, "unsent" | "needsFix" | "sessionLost" | "challenge" | "limited" | "output" | "cause">
    > = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.category = category;
    this.unsent = more.unsent ?? false;
    this.needsFix = more.needsFix ?? false;
    this.sessionLost = more.sessionLost ?? false;
    this.challenge = more.challenge;
    this.limited = more.limited;
    this.output = more.output;
  }
}

export type HeadersOf = (message: Message) => Readonly<Record<string, string>>;

export interface LinkEvents {
  /**
   * `via` is the id of our request on whose HTTP stream the message came; undefined on a shared stream such
   * as stdio.
   */
  onMessage(message: Message, via: Via): void;
  /**
   * The request with this id failed; the link stays open. Or it was not sent, and `onClosed` follows in the
   * same turn.
   */
  onFailed(id: number, failure: ChildFailure): void;
  /** The link closed by itself. Called once, as the last event. Not called after `close()`. */
  onClosed(failure: ChildFailure): void;
  /** Requests under way may end on the link. New ones belong on another link. */
  onMoved?(): void;
}

export interface Link {
  /**
   * Queues a message. Small messages are joined into one write. Never throws; a failure arrives as an event.
   */
  send(message: Message, via?: Via, alone?: boolean): void;
  /** The protocol version that the handshake agreed on. HTTP sends it as a header from then on. */
  agreed(protocolVersion: string): void;
  /**
   * Switches to the stateless era: each message gets these headers, and a request is cancelled by closing its
   * stream. `undefined` switches back. Only links with headers (HTTP) have this method.
   */
  stateless?(headersOf: HeadersOf | undefined): void;
  /** Whether a package runner still installs the server. Only links to processes have this method. */
  installing?(): boolean;
  /**
   * The last line of stderr, which may tell people why the start takes long. Undefined if callers may not
   * read it.
   */
  lastWords(): string | undefined;
  /** Ends the link; resolves when nothing of it is left, including grandchildren. Safe to call twice. */
  close(): Promise<void>;
  /** The other end, for people: "pid 123" or a URL. */
  readonly peer: string;
  /** Of the child's process, if it has one. */
  readonly pid?: number | undefined;
}

export interface Connector {
  /**
   * Opens a link; rejects with ChildFailure. If the signal is aborted, everything that was started is ended.
   */
  open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link>;
}

/** How a connection was lost. `counted`: the cause was already counted as a failure. */
export interface Loss {
  readonly failure: ChildFailure;
  readonly counted: boolean;
}
