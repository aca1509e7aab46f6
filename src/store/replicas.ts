/**
 * The gateways that share the store, and the sessions that moved between them. Ages are those by the clock of
 * the database.
 */
export interface Replicas {
  /**
   * Calls `check` with the others before it adds the row; an error of it rejects. Replaces a row with the
   * same id.
   */
  join(replica: NewReplica, check?: (others: readonly ReplicaRow[]) => void): Promise<void>;
  /** Notes that the replica lives. Returns all rows. The own one is missing if others removed it. */
  beat(id: string, about: unknown): Promise<readonly ReplicaRow[]>;
  drain(id: string): Promise<void>;
  leave(id: string): Promise<void>;
  /** Removes a replica that was silent for this time. Returns false if it was not. */
  remove(id: string, silentMs: number): Promise<boolean>;

  /**
   * Makes `by` the owner, if the session belongs to `from`, which is gone or draining, and has not ended.
   * Returns the row as it is then; undefined if the session still belongs to `from`.
   */
  takeUp(session: string, from: string, by: string): Promise<SessionRow | undefined>;
  /** Undefined for a session that never moved and did not end. */
  session(id: string): Promise<SessionRow | undefined>;
  /** Those of the given sessions that have ended or belong to another replica. */
  lost(sessions: readonly string[], owner: string): Promise<readonly string[]>;
  /** Stores what a client set in its session, if `owner` still owns it. */
  keep(session: string, owner: string, kept: unknown): Promise<void>;
  /** These sessions are not taken up any more. */
  end(sessions: readonly string[], owner: string): Promise<void>;

  /** Stores what a client said at initialize, or notes that it is still in use. */
  putSaid(digest: string, said: string): Promise<void>;
  said(digest: string): Promise<string | undefined>;
  /** Deletes rows that nobody can need any more. */
  sweep(): Promise<void>;
}

export interface NewReplica {
  readonly id: string;
  /** Where other replicas reach it; undefined if it shares nothing with them. */
  readonly address: string | undefined;
  readonly publicUrl: string | undefined;
  readonly version: string;
}

export interface ReplicaRow extends NewReplica {
  readonly state: "serving" | "draining";
  readonly sinceMs: number;
  /** Since its last beat. */
  readonly silentMs: number;
  readonly about: unknown;
}

export interface SessionRow {
  readonly owner: string;
  readonly ended: boolean;
  readonly kept: unknown;
}

/** The kind under which changes of the rows are reported. A beat is no change. */
export const REPLICAS = "replica";
