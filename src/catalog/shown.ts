/** Shows what the catalog knows: one snapshot of the best, a view for each connection key, and what is searched. Changes nothing of what is known. */
import type { ServerId } from "../kernel/call.ts";
import { type Asker, type ListKey, listKeyOf } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import { accountOf } from "../kernel/principal.ts";
import type { CatalogView } from "./catalog-view.ts";
import { KeyedView, type ViewSource } from "./keyed-view.ts";
import type { KnownList } from "./known-list.ts";
import { KnownServers, type Place, type ViewKey } from "./known-servers.ts";
import { OwnSearch } from "./own-search.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import { textOf } from "./server-text.ts";
import { type IndexedListing, IndexedSnapshot, type Snapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export interface CatalogChange {
  readonly snapshot: Snapshot;
  readonly servers: readonly ServerId[];
}

/** Who looks; without a principal nobody in particular. */
export type Looking = Pick<Asker, "capabilities"> & Partial<Pick<Asker, "principal">>;

/** Views that are kept; one that is forgotten is made anew when it is needed. */
const MOST_VIEWS = 256;
const MOST_OWN_VIEWS = 2_048;
const NOTHING = new IndexedSnapshot(0, new Map());

export class ShownCatalog implements ViewSource {
  readonly search: SearchStrategy;
  readonly loadCached: () => Promise<void>;
  readonly #log: Log;
  readonly #listeners = new Set<(change: CatalogChange) => void>();
  readonly #views = new Map<ListKey, KeyedView>();
  /** Of accounts, where some server lets them in as themselves; who looked last stands last. */
  readonly #ownViews = new Map<string, KeyedView>();
  readonly #own: OwnSearch;
  /** What is known, and shown here. */
  readonly servers = new KnownServers((place) => this.#forget(place));
  #snapshot = NOTHING;
  #versions = 0;
  #revision = 0;

  constructor(parts: { search: SearchStrategy; log: Log; loadCached: () => Promise<void> }) {
    this.search = parts.search;
    this.loadCached = parts.loadCached;
    this.#log = parts.log;
    this.#own = new OwnSearch(parts.search);
  }

  get revision(): number {
    return this.#revision;
  }

  /** The best that is known of each server. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  view(asker: Looking): CatalogView {
    const key = listKeyOf(asker);
    const account = asker.principal && this.servers.personal ? accountOf(asker.principal) : undefined;
    return account === undefined ? this.#view(key) : this.#ownView({ key, account });
  }

  #view(key: ListKey): CatalogView {
    const known = this.#views.get(key);
    if (known) return known;
    const view = new KeyedView(this, { key, account: undefined }, NOTHING);
    if (this.#views.size >= MOST_VIEWS) this.#views.delete(this.#views.keys().next().value as ListKey);
    this.#views.set(key, view);
    return view;
  }

  #ownView(asker: ViewKey): CatalogView {
    const id = `${asker.account} ${asker.key}`;
    const view = this.#ownViews.get(id) ?? new KeyedView(this, asker, NOTHING);
    this.#ownViews.delete(id);
    this.#ownViews.set(id, view);
    if (this.#ownViews.size > MOST_OWN_VIEWS)
      this.#ownViews.delete(this.#ownViews.keys().next().value as string);
    return view;
  }

  onChange(listener: (change: CatalogChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listOf(server: ServerId, asker: ViewKey): KnownList | undefined {
    return this.servers.listOf(server, asker);
  }

  searchedOf(server: ServerId): readonly Tool[] | undefined {
    return this.servers.get(server)?.searched;
  }

  serverOf(id: string): ServerId {
    return this.#own.serverOf(id) ?? id;
  }

  assemble(asker: ViewKey | undefined, before: IndexedSnapshot): IndexedSnapshot {
    const listings = new Map<ServerId, IndexedListing>();
    for (const server of this.servers.ids) {
      const listing = asker
        ? this.servers.listing(server, asker)
        : this.servers.get(server)?.listing(undefined);
      if (listing) listings.set(server, listing);
    }
    if (before.has(listings)) return before;
    // What accounts see of their own nobody else does: comparing them all with each other would find little.
    const others = asker?.account === undefined ? Array.from(this.#views.values(), (view) => view.last) : [];
    const alike = [before, this.#snapshot, ...others].filter((one) => one.shows(listings));
    // The first of them: a view that shows what it showed keeps its version.
    const version = alike[0]?.version ?? ++this.#versions;
    const same = alike.find((one) => one.version === version && one.has(listings));
    return same ?? new IndexedSnapshot(version, listings);
  }

  /** The servers are others now. `gone`: what was known of these is forgotten. */
  replace(gone: readonly ServerId[]): void {
    this.#publish(this.servers.places, gone);
  }

  /** What is known there changed: shows it, and tells of what is another for anyone. */
  update(places: Iterable<Place>): void {
    this.#publish(places, []);
  }

  /** Accounts may be let in where they were not, or no longer be: what each sees is looked up anew. */
  touch(): void {
    this.#revision += 1;
    this.#tell({ snapshot: this.#snapshot, servers: [] });
  }

  #publish(places: Iterable<Place>, gone: readonly ServerId[]): void {
    const changed = new Set(gone);
    let touched = gone.length > 0;
    for (const place of places) {
      const change = place.known.show();
      if (change !== "none") touched = true;
      if (change === "content") this.#index(place);
      if (change === "content") changed.add(place.server);
    }
    if (!touched) return;
    this.#revision += 1;
    this.#snapshot = this.assemble(undefined, this.#snapshot);
    if (changed.size > 0) this.#tell({ snapshot: this.#snapshot, servers: [...changed] });
  }

  /** The strategy may be a stranger's: its faults cost the search, not the catalog. */
  #index({ server, known }: Place): void {
    try {
      if (known.own) this.#own.update(server, known);
      else if (!known.known) this.search.remove(server);
      else if (known.join()) this.search.update(server, known.searched ?? [], textOf(known.described));
    } catch (error) {
      this.#log.error("tools cannot be searched", { server, error });
    }
  }

  #forget({ server, known }: Place): void {
    try {
      if (known.own) this.#own.remove(known);
      // Its successor is in the index as soon as it says what it has.
      else if (known.known) this.search.remove(server);
    } catch (error) {
      this.#log.error("tools cannot be forgotten", { server, error });
    }
  }

  #tell(change: CatalogChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error("a listener to the catalog failed", { error });
      }
    }
  }
}
