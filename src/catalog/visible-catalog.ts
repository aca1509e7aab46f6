/**
 * Publishes the catalog's state: one snapshot of the best lists, a view per list key or account, and the
 * search index. Does not change the state itself.
 */

import type { ServerId } from "../kernel/call.ts";
import { type Asker, type ListKey, listKeyOf } from "../kernel/list-key.ts";
import { Listeners } from "../kernel/listeners.ts";
import type { Log } from "../kernel/log.ts";
import { Lru } from "../kernel/lru.ts";
import { accountOf } from "../kernel/principal.ts";
import { AccountSearch } from "./account-search.ts";
import type { CatalogView } from "./catalog-view.ts";
import { KeyedView, type ViewSource } from "./keyed-view.ts";
import type { KnownList } from "./known-list.ts";
import { type KnownEntry, KnownServers, type ViewKey } from "./known-servers.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import { serverText } from "./server-text.ts";
import { type IndexedListing, IndexedSnapshot, type Snapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export interface CatalogChange {
  readonly snapshot: Snapshot;
  readonly servers: readonly ServerId[];
}

/** The client a view is for. Without a principal the view shows only shared lists. */
export type Viewer = Pick<Asker, "capabilities"> & Partial<Pick<Asker, "principal">>;

/** Limits of kept views. A dropped view is built again when needed. */
const MAX_VIEWS = 256;
const MAX_ACCOUNT_VIEWS = 2_048;
const NOTHING = new IndexedSnapshot(0, new Map());

export class VisibleCatalog implements ViewSource {
  readonly search: SearchStrategy;
  readonly loadCached: () => Promise<void>;
  readonly #log: Log;
  readonly #listeners = new Listeners<[CatalogChange]>((error) =>
    this.#log.error("a listener to the catalog failed", { error }),
  );
  readonly #views = new Map<ListKey, KeyedView>();
  /** Views of accounts, used if some server lists per account. */
  readonly #accountViews = new Lru<string, KeyedView>(MAX_ACCOUNT_VIEWS);
  readonly #accountSearch: AccountSearch;
  readonly servers = new KnownServers((entry) => this.#forget(entry));
  #snapshot = NOTHING;
  #versions = 0;
  #revision = 0;

  constructor(parts: { search: SearchStrategy; log: Log; loadCached: () => Promise<void> }) {
    this.search = parts.search;
    this.loadCached = parts.loadCached;
    this.#log = parts.log;
    this.#accountSearch = new AccountSearch(parts.search);
  }

  get revision(): number {
    return this.#revision;
  }

  /** The best known list of each server. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  view(asker: Viewer): CatalogView {
    const key = listKeyOf(asker);
    const account = asker.principal && this.servers.personal ? accountOf(asker.principal) : undefined;
    return account === undefined ? this.#view(key) : this.#accountView({ key, account });
  }

  #view(key: ListKey): CatalogView {
    const known = this.#views.get(key);
    if (known) return known;
    const view = new KeyedView(this, { key, account: undefined }, NOTHING);
    if (this.#views.size >= MAX_VIEWS) this.#views.delete(this.#views.keys().next().value as ListKey);
    this.#views.set(key, view);
    return view;
  }

  #accountView(asker: ViewKey): CatalogView {
    const id = `${asker.account} ${asker.key}`;
    const view = this.#accountViews.get(id) ?? new KeyedView(this, asker, NOTHING);
    this.#accountViews.set(id, view);
    return view;
  }

  onChange(listener: (change: CatalogChange) => void): () => void {
    return this.#listeners.on(listener);
  }

  listOf(server: ServerId, asker: ViewKey): KnownList | undefined {
    return this.servers.listOf(server, asker);
  }

  searchedOf(server: ServerId): readonly Tool[] | undefined {
    return this.servers.get(server)?.searchedTools;
  }

  serverOf(id: string): ServerId {
    return this.#accountSearch.serverOf(id) ?? id;
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
    // Views of accounts rarely equal each other, so they are not compared.
    const others = asker?.account === undefined ? Array.from(this.#views.values(), (view) => view.last) : [];
    const equal = [before, this.#snapshot, ...others].filter((one) => one.shows(listings));
    // `before` comes first, so that a view with unchanged content keeps its version.
    const version = equal[0]?.version ?? ++this.#versions;
    const same = equal.find((one) => one.version === version && one.has(listings));
    return same ?? new IndexedSnapshot(version, listings);
  }

  /** Publishes a new set of servers. `removed`: servers that were visible and are gone. */
  replace(removed: readonly ServerId[]): void {
    this.#publish(this.servers.entries, removed);
  }

  /**
   * Publishes the changed state of these servers and notifies the listeners if any client sees a difference.
   */
  update(entries: Iterable<KnownEntry>): void {
    this.#publish(entries, []);
  }

  /** Builds every view again on next use, because credentials of accounts changed. */
  invalidateViews(): void {
    this.#revision += 1;
    this.#listeners.emit({ snapshot: this.#snapshot, servers: [] });
  }

  #publish(entries: Iterable<KnownEntry>, removed: readonly ServerId[]): void {
    const changed = new Set(removed);
    let touched = removed.length > 0;
    for (const entry of entries) {
      const change = entry.known.updateVisible();
      if (change !== "none") touched = true;
      if (change === "content") this.#index(entry);
      if (change === "content") changed.add(entry.server);
    }
    if (!touched) return;
    this.#revision += 1;
    this.#snapshot = this.assemble(undefined, this.#snapshot);
    if (changed.size > 0) this.#listeners.emit({ snapshot: this.#snapshot, servers: [...changed] });
  }

  /** The search strategy may be third-party code, so its errors must not break the catalog. */
  #index({ server, known }: KnownEntry): void {
    try {
      if (known.own) this.#accountSearch.update(server, known);
      else if (!known.hasList) this.search.remove(server);
      else if (known.mergeSearched())
        this.search.update(server, known.searchedTools ?? [], serverText(known.searchedAbout));
    } catch (error) {
      this.#log.error("tools cannot be searched", { server, error });
    }
  }

  #forget({ server, known }: KnownEntry): void {
    try {
      if (known.own) this.#accountSearch.remove(known);
      // A successor with the same name is indexed as soon as its tools are known.
      else if (known.hasList) this.search.remove(server);
    } catch (error) {
      this.#log.error("tools cannot be forgotten", { server, error });
    }
  }
}
