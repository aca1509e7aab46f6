/** A connected client for the admin API. Its session is identified only by a hash. */
import type { CallActor, ClientName } from "../call-row.ts";
import type { Named } from "../names.ts";

export interface ClientSession {
  /** A hash, because the id itself gives access to the session. */
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
  /** Sessions per endpoint, by uuid. */
  counts(): ReadonlyMap<string, number>;
  /** Returns false if there is no such session. */
  end(id: string): boolean;
}
