/** A client that is connected, as it is shown: its session by a hash alone. */
import type { CallActor, ClientName } from "../call-row.ts";
import type { Named } from "../names.ts";

export interface ClientSession {
  /** A hash: the id itself opens the session. */
  readonly id: string;
  readonly endpoint: Named;
  readonly principal: CallActor;
  readonly client?: ClientName;
  readonly protocolVersion?: string;
  readonly since: string;
  readonly lastSeen: string;
  readonly calls: number;
  /** Servers it has an open connection to, its own or shared. */
  readonly servers: readonly Named[];
}

export interface SessionControl {
  list(): readonly ClientSession[];
  /** By uuid of the endpoint. */
  counts(): ReadonlyMap<string, number>;
  /** False: there is no such session (any more). */
  end(id: string): boolean;
}
