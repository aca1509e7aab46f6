/**
 * The interface of the sums of calls: how many, of whom, by minute, hour and day. A sum belongs to a group,
 * which says who called what. Times are milliseconds since 1970, of buckets their beginning in UTC.
 */

export const SUM_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type SumPer = keyof typeof SUM_MS;
export const SUM_PERS = Object.keys(SUM_MS) as readonly SumPer[];

/** How long sums are kept. Longer times are shown by longer buckets. */
export const SUM_KEPT_MS: Readonly<Record<SumPer, number>> = {
  minute: 3 * SUM_MS.hour,
  hour: 8 * SUM_MS.day,
  day: 100 * SUM_MS.day,
};

/** Who called what. The same text in every process has the same `id`. */
export interface SumGroup {
  readonly id: string;
  /** JSON that the store does not look into. */
  readonly about: string;
}

export const COUNTERS = [
  "calls",
  "errors",
  "refused",
  "request_bytes",
  "result_bytes",
  "tokens_full",
  "tokens_shown",
] as const;
export type Counts = Readonly<Record<(typeof COUNTERS)[number], number>>;

export interface NewSum extends Counts {
  readonly per: SumPer;
  readonly at: number;
  /** Id of a group. */
  readonly of: string;
  /** When the last of the calls ended. */
  readonly last: number;
}

/** How many calls of a group took as long as the bucket says. */
export interface NewDurations {
  readonly per: SumPer;
  readonly at: number;
  readonly of: string;
  readonly bucket: number;
  readonly calls: number;
}

export interface SumBatch {
  /** A batch that is sent again after a failure is counted once: `n` grows with each batch of a writer. */
  readonly writer: string;
  readonly n: number;
  readonly groups: readonly SumGroup[];
  readonly sums: readonly NewSum[];
  readonly durations: readonly NewDurations[];
}

export interface SumRange {
  readonly per: SumPer;
  /** Inclusive; the beginning of a bucket. */
  readonly from: number;
  /** Exclusive; without it, until now. */
  readonly to?: number | undefined;
  /** Only these groups; all without it. */
  readonly of?: readonly string[] | undefined;
}

export interface GroupSum extends Counts {
  readonly of: string;
  readonly last: number;
}

export interface BucketSum extends Counts {
  readonly at: number;
}

export interface Sums {
  /** Adds to what all processes have counted. All or nothing. */
  add(batch: SumBatch): Promise<void>;
  /** By group. */
  byGroup(range: SumRange): Promise<readonly GroupSum[]>;
  /** By bucket, oldest first, without empty ones. */
  byBucket(range: SumRange): Promise<readonly BucketSum[]>;
  /** Calls by group and bucket. */
  calls(
    range: SumRange,
  ): Promise<readonly { readonly of: string; readonly at: number; readonly calls: number }[]>;
  /** How many calls took how long, by group or by bucket of time. */
  durations(range: SumRange, by: "of" | "at"): Promise<readonly DurationSum[]>;
  /** What groups are about, by id. */
  about(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** When counting began. */
  since(): Promise<number>;
  /** Deletes what is older than it is kept. */
  prune(now: number): Promise<void>;
}

export interface DurationSum {
  /** The id of the group, or the beginning of the bucket of time. */
  readonly key: string | number;
  readonly bucket: number;
  readonly calls: number;
}
