/**
 * What limits count with. A process that is alone counts in its memory (`local-rate.ts`, `local-places.ts`);
 * replicas count together.
 */

export interface RateTerms {
  /** How many calls may be made at once. */
  readonly burst: number;
  /** One more call is earned after each such time. */
  readonly intervalMs: number;
  /** Refuse calls while the count of all replicas is not known, instead of a share for each replica. */
  readonly required?: boolean | undefined;
}

/** Calls per time, counted by key. */
export interface Rate {
  /**
   * Resolves when `wait` may know more about one more call; undefined if it knows enough. Ask again
   * afterwards: another call may have been faster. Rejects if calls must be refused. Missing if `wait`
   * always knows enough.
   */
  ready?(key: string): Promise<void> | undefined;
  /** Returns how long (ms) to wait until one more call would pass; 0 if it passes now. */
  wait(key: string): number;
  /** Counts a call that passes. Returns what `giveBack` needs to undo that. */
  take(key: string): unknown;
  giveBack(key: string, taken: unknown): void;
}

/** What runs at the same time: calls, requests or sessions. */
export interface Places {
  /**
   * Resolves when `full` knows about so many more, having asked the other replicas; undefined if it knows.
   * Enter then in the same turn: places are not kept for anybody. Rejects if calls must be refused. Missing
   * if `full` always knows.
   */
  ready?(more?: number): Promise<void> | undefined;
  /** Whether so many more would be over the limit. */
  full(more?: number): boolean;
  enter(): void;
  leave(): void;
  /**
   * While somebody waits for a place: `look` runs when one may have become free elsewhere. Returns the
   * function that ends it. Missing if places become free only here.
   */
  watch?(look: () => void, waiting: () => number): () => void;
  /** Its user needs it no longer. Missing if nothing is kept for users. */
  release?(): void;
}

export interface PlacesTerms {
  /** Undefined: no limit. */
  readonly most: () => number | undefined;
  readonly required?: boolean | undefined;
}

/** The counts of all replicas. `place` names the limit, and is the same text at each of them. */
export interface SharedCounts {
  rate(place: string, terms: RateTerms): Rate;
  /** All users of a place get the same, under the terms of the last one. */
  places(place: string, terms: PlacesTerms): Places;
}
