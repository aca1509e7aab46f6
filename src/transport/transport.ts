/** The seam for who listens: how clients reach us. */

import type { Principal } from "../kernel/principal.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import type { Send } from "../rpc/peer.ts";
import type { StatelessHost } from "../session/era-2026/stateless-host.ts";
import type { Session } from "../session/session.ts";

/** What a transport serves, one endpoint: it opens a session per client and is told when to stop. */
export interface Host {
  /**
   * Begins a session for who the transport says it is; `send` carries its messages to the client. Stateless: it needs
   * no handshake and asks nothing.
   */
  open(send: Send, principal: Principal, stateless?: boolean): Session;
  /** The client of this session is gone. */
  ended(session: Session): void;
  /** New sessions may begin. */
  readonly ready: boolean;
  /** As many sessions, or requests under way, as there may be. */
  full(what: "sessions" | "inFlight"): boolean;
  /** A request was refused because of that, before it reached anybody. */
  turnedAway(message: Message | Malformed, principal: Principal, session: Session | undefined): void;
  health(): Readiness;
  /** Serves requests of the stateless era, which belong to no session. */
  readonly era2026: StatelessHost;
}

/** Ready: new sessions may begin. Children that are down do not change that, but are named. */
export interface Readiness {
  readonly ready: boolean;
  /** Why the store cannot be written, where there is one. */
  readonly store?: string;
  readonly down: readonly { readonly server: string; readonly reason: string | undefined }[];
}

export interface Transport {
  readonly name: string;
  /** Where it can be reached, for a person. */
  readonly info: string;
  /** Resolves when there is nobody left to serve, e.g. at the end of stdin. */
  serve(host: Host): Promise<void>;
  /** Takes no new clients; those that are there go on. */
  stop(): Promise<void>;
  /** Lets what is queued go out and ends everything. */
  close(): Promise<void>;
}
