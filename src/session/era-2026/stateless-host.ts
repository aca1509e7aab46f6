/** The interface through which a transport has requests of the stateless era (2026-07-28) served. */
import type { Principal } from "../../kernel/principal.ts";
import type { Message } from "../../rpc/message.ts";
import type { Headers } from "./headers.ts";
import type { ReplyOutlet } from "./pending-reply.ts";

export interface StatelessHost {
  /** How many calls wait for the next request of their client. */
  readonly parked: number;
  serve(request: Message & { kind: "request" }, from: RequestSource): ServedRequest;
  /** Cancels all calls of these principals, also those that wait for the next request of their client. */
  endOf(whose: (principal: Principal) => boolean, reason: string): void;
  /** A connection with a single client, such as stdio, has ended. */
  left(session: string): void;
}

/** Where a request came from. */
export interface RequestSource {
  /** Only the principal that received a question may answer it. */
  readonly principal: Principal;
  /** The client cannot be told apart from others, so state kept for it appears in no list. */
  readonly unlisted?: boolean;
  /** The id of a connection with a single client; undefined if each request may come from another client. */
  readonly session?: string;
  readonly headers?: Headers;
  readonly send: ReplyOutlet;
}

/** A request in flight. */
export interface ServedRequest {
  /** Cancels the request. Nothing is sent afterwards. */
  cancel(reason: string): void;
}
