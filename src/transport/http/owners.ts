/**
 * The seam to other replicas of a gateway: whose session is it, and who answers a request for it. Absent in a
 * process that is alone.
 */
import type { Principal } from "../../kernel/principal.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { KeptState } from "../../session/kept-state.ts";
import type { ResumedSession } from "../../session/session.ts";
import type { Received } from "./http-server.ts";

/** A request for a session, or for something else, that this process does not have. */
export interface StrayRequest {
  readonly received: Received;
  /** The id of the session that it names; empty without one. */
  readonly id: string;
  /** Undefined for a request without a body. */
  readonly body: Buffer | undefined;
  /** It may be sent again, even if it may have been served. */
  readonly harmless: boolean;
  /**
   * Returns what its client gets if nobody knows whether it was served; undefined if it waits for no answer.
   */
  readonly lost: () => Buffer | undefined;
}

/** "answered": the response has been or will be written. "unknown": there is no such session. */
export type Found = ResumedSession | "answered" | "unknown";

/** The sessions of one endpoint at all replicas. */
export interface Owners {
  /** The id of this replica. */
  readonly self: string;
  /**
   * Stores what a client sent at initialize, once for all that sent the same. Returns its name for `idFor`.
   */
  keepSaid(said: Raw): Promise<string>;
  /** Returns the id for the client of a new session. A session without `said` cannot go on elsewhere. */
  idFor(session: string, principal: Principal, said?: string): string;
  /** The id is that of a session of this principal, here or elsewhere. */
  knows(id: string, principal: Principal): boolean;
  /** Stores what the client has set in its session. */
  keep(session: string, kept: KeptState): void;
  /**
   * Sends the request to the owner of the session; if that is gone, returns the session, to be continued
   * here.
   */
  find(stray: StrayRequest): Promise<Found>;
  /**
   * This process may have lost sessions to others. Requests must wait for `certain`, and look their session
   * up again.
   */
  readonly uncertain: boolean;
  /** Resolves with false if that cannot be known now. */
  certain(): Promise<boolean>;
  /** This process is about to stop, and others take its sessions over. */
  readonly leaving: boolean;
  /** Has any other replica answer a request that belongs to no session. Returns false if there is none. */
  handOver(stray: StrayRequest): Promise<boolean>;
  /**
   * Has another replica answer, which has what the request names. Resolves with false if that is gone, and
   * what it had is lost.
   */
  passTo(replica: string, stray: StrayRequest): Promise<boolean>;
  /** A request in a session has come from a client. */
  counted(): void;
  /** The session has ended, and must not be continued anywhere. */
  ended(session: string): void;
}
