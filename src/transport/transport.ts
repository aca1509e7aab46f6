/** The seam for who listens: how clients reach us. */

import type { Message } from "../rpc/message.ts";
import type { Via } from "../rpc/peer.ts";
import type { Session } from "../session/session.ts";

/** What a transport serves: it opens a session per client and is told when to stop. */
export interface Host {
  /** Begins a session; `send` carries its messages to the client. */
  open(send: (message: Message, via: Via) => void): Session;
  /** The client of this session is gone. */
  ended(session: Session): void;
}

export interface Transport {
  readonly name: string;
  /** Where it can be reached, for a person. */
  readonly info: string;
  /** Resolves when there is nobody left to serve, e.g. at the end of stdin. */
  serve(host: Host): Promise<void>;
  /** Stops listening and lets what is queued go out. */
  close(): Promise<void>;
}
