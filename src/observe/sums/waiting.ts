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
import type { Cell, Minute } from "./minute.ts";
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
type MutableDurations = { -readonly [K in keyof NewDurations]: NewDurations[K] };

const EVERYTHING: CallPlace = {
  endpoint: { name: OTHER },
  server: { name: OTHER },
  tool: OTHER,
  principal: OTHER_CALLER,
};

export class Waiting {
  readonly #namespaceOf: (endpoint: string | undefined, server: string | undefined) => Named | undefined;
  /** By per, time and group. */
  #sums = new Map<string, MutableSum>();
  #durations = new Map<string, MutableDurations>();
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
    for (const [group, counts] of minute.durations) this.#took(minute.at, group, counts);
  }

  /** Everything that waits; undefined if nothing does. */
  give(now: number): Omit<SumBatch, "writer" | "n"> | undefined {
    if (this.#sums.size === 0 && this.#durations.size === 0) return undefined;
    const kept = ({ per, at }: { readonly per: SumPer; readonly at: number }): boolean =>
      at > now - SUM_KEPT_MS[per];
    const batch = {
      groups: [...this.#groups].map(([id, place]) => ({ id, about: JSON.stringify(place) })),
      sums: [...this.#sums.values()].filter(kept),
      durations: [...this.#durations.values()].filter(kept),
    };
    this.#sums = new Map();
    this.#durations = new Map();
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
    const of = this.#idOf({ ...cell.place, namespace });
    for (const per of this.#pers()) {
      const at = bucketAt(per, minute);
      const key = `${per} ${at} ${of}`;
      const sum = this.#sums.get(key);
      if (!sum) {
        const { place: _, ...counts } = cell;
        this.#sums.set(key, { ...counts, per, at, of });
        continue;
      }
      for (const name of COUNTERS) sum[name] += cell[name];
      sum.last = Math.max(sum.last, cell.last);
    }
  }

  #took(minute: number, { server, tool, method }: CallGroup, counts: Uint32Array): void {
    const of = this.#idOf({ server, tool, method });
    for (const per of this.#pers()) {
      const at = bucketAt(per, minute);
      for (const [bucket, calls] of counts.entries()) {
        if (calls === 0) continue;
        const key = `${per} ${at} ${of} ${bucket}`;
        const known = this.#durations.get(key);
        if (known) known.calls += calls;
        else this.#durations.set(key, { per, at, of, bucket, calls });
      }
    }
  }

  /** Minutes are given up first: they are the most, and matter for the shortest time. */
  #pers(): readonly SumPer[] {
    const rows = this.#sums.size + this.#durations.size;
    return rows < MAX_ROWS ? SUM_PERS : rows < 2 * MAX_ROWS ? ["hour", "day"] : [];
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
