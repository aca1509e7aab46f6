/** Counted minutes as rows for the store, until they are written. Of limited size. */
import {
  COUNTERS,
  type NewDurations,
  type NewSum,
  SUM_KEPT_MS,
  SUM_MS,
  SUM_PERS,
  type SumBatch,
  type SumPer,
} from "../../store/sum-rows.ts";
import { type CallGroup, OTHER } from "../call-groups.ts";
import type { Named } from "../call-schema.ts";
import type { Cell, KnownId, Minute, Times } from "./minute.ts";
import { type CallPlace, groupId, OTHER_CALLER } from "./sum-group.ts";

/** Groups of one day that this process counts separately. */
const MAX_GROUPS = 2_000;
/** Beyond them, groups whatever their client, whose name callers choose. Further ones are gathered. */
const MAX_ANY_CLIENT = 1_000;
/** Groups that are gathered by endpoint and server. Beyond them everything is counted together. */
const MAX_GATHERED = 2_000;
/** While the store is away. */
const MAX_ROWS = 20_000;

type MutableSum = { -readonly [K in keyof NewSum]: NewSum[K] };

/** Everything of one minute, hour or day. */
interface Bucket {
  readonly per: SumPer;
  readonly at: number;
  /** By id of the group. */
  readonly sums: Map<string, MutableSum>;
  readonly times: Map<string, Uint32Array>;
}

const EVERYTHING: CallPlace = {
  endpoint: { name: OTHER },
  server: { name: OTHER },
  tool: OTHER,
  principal: OTHER_CALLER,
};

export class Waiting {
  readonly #namespaceOf: (endpoint: string | undefined, server: string | undefined) => Named | undefined;
  /** By per and time. */
  #buckets = new Map<string, Bucket>();
  #rows = 0;
  #groups = new Map<string, CallPlace>();
  /** The groups of this day, which the store knows, or will. */
  #named = new Set<string>();
  #day = 0;

  constructor(namespaceOf: (endpoint: string | undefined, server: string | undefined) => Named | undefined) {
    this.#namespaceOf = namespaceOf;
  }

  take(minute: Minute): void {
    const day = bucketAt("day", minute.at);
    if (day !== this.#day) {
      this.#day = day;
      this.#named = new Set();
    }
    for (const cell of minute.cells()) this.#add(minute.at, cell);
    for (const [group, times] of minute.times()) this.#took(minute.at, group, times);
  }

  /** Everything that waits; undefined if nothing does. */
  give(now: number): Omit<SumBatch, "writer" | "n"> | undefined {
    if (this.#rows === 0) return undefined;
    const buckets = [...this.#buckets.values()].filter(({ per, at }) => at > now - SUM_KEPT_MS[per]);
    const batch = {
      groups: [...this.#groups].map(([id, place]) => ({ id, about: JSON.stringify(place) })),
      sums: buckets.flatMap(({ sums }) => [...sums.values()]),
      durations: buckets.flatMap(durationsOf),
    };
    this.#buckets = new Map();
    this.#rows = 0;
    this.#groups = new Map();
    return batch;
  }

  /** The store may not know the groups of a batch that was lost. */
  nameAgain(): void {
    this.#named = new Set(this.#groups.keys());
  }

  #add(minute: number, cell: Cell): void {
    const { endpoint, server } = cell.place;
    const namespace = this.#namespaceOf(endpoint?.uuid, server?.uuid);
    const of = this.#idFor(cell, namespace, () => ({ ...cell.place, namespace }));
    for (const per of this.#pers()) {
      const { at, sums } = this.#bucket(per, minute);
      const sum = sums.get(of);
      if (sum) {
        for (const name of COUNTERS) sum[name] += cell[name];
        sum.last = Math.max(sum.last, cell.last);
      } else {
        sums.set(of, newSum(per, at, of, cell));
        this.#rows += 1;
      }
    }
  }

  #took(minute: number, { server, tool, method }: CallGroup, taken: Times): void {
    if (taken.counts.every((calls) => calls === 0)) return;
    const of = this.#idFor(taken, undefined, () => ({ server, tool, method }));
    for (const per of this.#pers()) {
      const { times } = this.#bucket(per, minute);
      const known = times.get(of);
      const counts = known ?? new Uint32Array(taken.counts.length);
      if (!known) times.set(of, counts);
      for (let at = 0; at < counts.length; at++) {
        const before = counts[at] as number;
        counts[at] = before + (taken.counts[at] as number);
        if (before === 0 && counts[at] !== 0) this.#rows += 1;
      }
    }
  }

  #bucket(per: SumPer, minute: number): Bucket {
    const at = bucketAt(per, minute);
    const key = `${per} ${at}`;
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = { per, at, sums: new Map(), times: new Map() };
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  /** Minutes are given up first: they are the most, and matter for the shortest time. */
  #pers(): readonly SumPer[] {
    return this.#rows < MAX_ROWS ? SUM_PERS : this.#rows < 2 * MAX_ROWS ? ["hour", "day"] : [];
  }

  /** The namespace may change between two batches, and groups that were lost must be named again. */
  #idFor(counted: { known?: KnownId }, namespace: Named | undefined, place: () => CallPlace): string {
    const { known } = counted;
    if (known?.among === this.#named && known.namespace === namespace) return known.id;
    const id = this.#idOf(place());
    counted.known = { id, namespace, among: this.#named };
    return id;
  }

  #idOf(place: CallPlace): string {
    return (
      this.#within(place, MAX_GROUPS) ??
      this.#within(place.principal ? { ...place, client: OTHER } : place, MAX_GROUPS + MAX_ANY_CLIENT) ??
      this.#within(gathered(place), MAX_GROUPS + MAX_ANY_CLIENT + MAX_GATHERED) ??
      (this.#within(
        place.endpoint ? EVERYTHING : { server: { name: OTHER }, tool: OTHER },
        Infinity,
      ) as string)
    );
  }

  /** The id of the group, if it is known or there is room for it. */
  #within(place: CallPlace, most: number): string | undefined {
    const id = groupId(place);
    if (this.#named.has(id)) return id;
    if (this.#named.size >= most) return undefined;
    this.#named.add(id);
    this.#groups.set(id, place);
    return id;
  }
}

function gathered({ endpoint, namespace, server }: CallPlace): CallPlace {
  return { ...(endpoint && { endpoint, namespace, principal: OTHER_CALLER }), server, tool: OTHER };
}

function bucketAt(per: SumPer, at: number): number {
  return Math.floor(at / SUM_MS[per]) * SUM_MS[per];
}

/** Member by member: a copy by spreading costs more than the rest of taking. */
function newSum(per: SumPer, at: number, of: string, cell: Cell): MutableSum {
  return {
    per,
    at,
    of,
    calls: cell.calls,
    errors: cell.errors,
    refused: cell.refused,
    request_bytes: cell.request_bytes,
    result_bytes: cell.result_bytes,
    tokens_full: cell.tokens_full,
    tokens_shown: cell.tokens_shown,
    last: cell.last,
  };
}

function durationsOf({ per, at, times }: Bucket): readonly NewDurations[] {
  const rows: NewDurations[] = [];
  for (const [of, counts] of times)
    for (let bucket = 0; bucket < counts.length; bucket++)
      if (counts[bucket] !== 0) rows.push({ per, at, of, bucket, calls: counts[bucket] as number });
  return rows;
}
