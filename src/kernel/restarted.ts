/** The member of a result's `_meta` that says: the process which this client used before was replaced. */
export const RESTARTED = "metamcp/restarted";

export interface Restarted {
  readonly reason: string;
  readonly note: string;
}
