/** The counts of limits over all replicas, with rows in the database. */
import { createHash } from "node:crypto";
import type { Places, PlacesTerms, Rate, RateTerms, SharedCounts } from "../../kernel/counts.ts";
import { Reach, type ReachParts } from "./reach.ts";
import { SharedPlaces } from "./shared-places.ts";
import { SharedRate } from "./shared-rate.ts";

export class ReplicaCounts implements SharedCounts {
  readonly #reach: Reach;
  readonly #replica: string;
  /** By id. There must be one for each row. */
  readonly #places = new Map<string, SharedPlaces>();
  /** Rates with calls that the database does not know. */
  readonly #owing = new Set<SharedRate>();

  /** `replica`: the id of this one. */
  constructor({ replica, ...parts }: ReachParts & { readonly replica: string }) {
    this.#reach = new Reach(parts);
    this.#replica = replica;
  }

  /** The database is away: each replica has its share of every limit. */
  get divided(): boolean {
    return this.#reach.away;
  }

  rate(place: string, terms: RateTerms): Rate {
    const rate: SharedRate = new SharedRate(terms, this.#reach, {
      idOf: (key) => idOf(place, key),
      onOwing: () => this.#owing.add(rate),
    });
    return rate;
  }

  places(place: string, terms: PlacesTerms): Places {
    const id = idOf(place, "");
    const places = this.#places.get(id) ?? this.#newPlaces(id);
    places.use(terms);
    return places;
  }

  #newPlaces(id: string): SharedPlaces {
    const onUnused = (): void => void this.#places.delete(id);
    const made = new SharedPlaces({ id, replica: this.#replica, reach: this.#reach, onUnused });
    this.#places.set(id, made);
    return made;
  }

  /** The others called this replica dead. */
  lost(): void {
    for (const places of this.#places.values()) places.lost();
  }

  /** Tells the database what it may not know, for instance after it was away. */
  confirm(): void {
    for (const places of this.#places.values()) places.confirm();
    for (const rate of this.#owing) if (rate.settle()) this.#owing.delete(rate);
  }
}

/** Keys contain what callers choose, so ids have a fixed size. */
function idOf(place: string, key: string): string {
  return createHash("sha256").update(place).update("\0").update(key).digest("base64url");
}
