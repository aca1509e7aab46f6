/** Interfaces between a transport, which carries messages of clients, and the host, which serves them. */

import type { Repeat } from "../kernel/call.ts";
import type { YieldingSessions } from "../kernel/concurrency-limiter.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import type { Send } from "../rpc/peer.ts";
import type { StatelessHost } from "../session/era-2026/stateless-host.ts";
import type { Sender } from "../session/placed-requests.ts";
import type { Session, SessionOptions } from "../session/session.ts";

/** One endpoint as a transport sees it: opens a session per client and learns when a client is gone. */
export interface Host {
  /**
   * Opens a session for the principal that the transport has authenticated. `send` carries the session's
   * messages to the client. A stateless session needs no handshake and sends the client no requests.
   */
  open(send: Send, principal: Principal, how?: OpenOptions): Session;
  /** The transport calls this when the client of the session is gone. */
  ended(session: Session): void;
  /** New sessions are accepted. */
  readonly ready: boolean;
  /**
   * Asks the other replicas for places, so that `full` and `makeRoom` know about so many more; undefined if
   * they know. Missing in a process that is alone.
   */
  askFor?(what: "sessions" | "inFlight", more?: number): Promise<unknown> | undefined;
  /** So many more requests would be over the limit of requests in flight. Default: 1. */
  full(what: "inFlight", more?: number): boolean;
  /**
   * Makes room for a session of this caller, if the limit of sessions is reached. Returns false if there is
   * none.
   */
  makeRoom(caller: string): boolean;
  /** Registers sessions that may end if the limit is reached. `offFull` removes them. */
  onFull(sessions: YieldingSessions): void;
  offFull(sessions: YieldingSessions): void;
  /**
   * The transport calls this when it refused a request because of a limit, before the request reached a
   * session.
   */
  recordOverLimit(message: Message | Malformed, principal: Principal, session: Session | undefined): void;
  /** Whether a request may be sent again if its outcome is not known. */
  repeat(message: Message & { kind: "request" }, principal: Principal): Repeat;
  /** The replica that has what the request names; undefined if it names nothing of that kind. */
  replicaOf(message: Message & { kind: "request" }, from: Sender): string | undefined;
  health(): Readiness;
  /** Serves requests of the stateless era, which belong to no session. */
  readonly era2026: StatelessHost;
}

export type OpenOptions = Pick<SessionOptions, "id" | "stateless" | "onHandshake" | "onKept" | "resumed">;

export interface Readiness {
  /** New sessions are accepted. Children that are down do not change this; they are listed in `down`. */
  readonly ready: boolean;
  /** Why the store cannot be written. Absent without a store or a problem. */
  readonly store?: string;
  /** "divided": each replica has only its share of the limits, because the store is away. */
  readonly limits?: string;
  /** "not shared": other gateways use the same store, but not the sessions and limits of this one. */
  readonly replicas?: string;
  readonly down: readonly { readonly server: string; readonly reason: string | undefined }[];
}

export interface Transport {
  readonly name: string;
  /** The address, as shown to a person. */
  readonly info: string;
  /** Resolves when there are no more clients to serve, e.g. at the end of stdin. */
  serve(host: Host): Promise<void>;
  /** Reads the files again that it serves with, such as the TLS certificate. */
  reload?(): void;
  /** Stops accepting clients. Connected clients are still served. */
  stop(): Promise<void>;
  /** Sends what is queued, then closes all connections. */
  close(): Promise<void>;
}
