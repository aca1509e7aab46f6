/** The seam for who listens: how clients reach us. */

import type { Send } from "../rpc/peer.ts";
import type { Modern } from "../session/modern/modern.ts";
import type { Session } from "../session/session.ts";

/** What a transport serves: it opens a session per client and is told when to stop. */
export interface Host {
  /** Begins a session; `send` carries its messages to the client. Stateless: it needs no handshake and asks nothing. */
  open(send: Send, stateless?: boolean): Session;
  /** The client of this session is gone. */
  ended(session: Session): void;
  /** New sessions may begin. */
  readonly ready: boolean;
  health(): Health;
  /** Serves requests of the stateless era, which belong to no session. */
  readonly modern: Modern;
}

/** Ready: new sessions may begin. Children that are down do not change that, but are named. */
export interface Health {
  readonly ready: boolean;
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
