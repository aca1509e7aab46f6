/** The view of the catalog for clients with one list key, or for one account. */
import type { ServerId } from "../kernel/call.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { KnownList, ListedKind } from "./known-list.ts";
import type { ViewKey } from "./known-servers.ts";
import type { SearchOptions, SearchStrategy } from "./search/strategy.ts";
import { searchId } from "./search-id.ts";
import type { IndexedListing, IndexedSnapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

/** What a view reads from. */
export interface ViewSource extends Pick<CatalogView, "loadCached" | "onChange"> {
  readonly search: SearchStrategy;
  /** Increases whenever a snapshot may have changed. */
  readonly revision: number;
  /** The current snapshot for that key; returns `before` if nothing changed. */
  assemble(key: ViewKey, before: IndexedSnapshot): IndexedSnapshot;
  listOf(server: ServerId, key: ViewKey): Pick<KnownList, "live" | "fault" | "visible"> | undefined;
  /** The tools of the server in the search index. */
  searchedOf(server: ServerId): readonly Tool[] | undefined;
  /** The server that a search id belongs to. */
  serverOf(searchId: string): ServerId;
}

export class KeyedView implements CatalogView {
  readonly search: CatalogView["search"];
  readonly #source: ViewSource;
  readonly #key: ViewKey;
  #snapshot: IndexedSnapshot;
  #revision = -1;

  constructor(source: ViewSource, key: ViewKey, first: IndexedSnapshot) {
    const strategy = source.search;
    this.#source = source;
    this.#key = key;
    this.#snapshot = first;
    this.search = {
      ...(strategy.mostShown !== undefined && { mostShown: strategy.mostShown }),
      search: async (query, options) => {
        const hits = await strategy.search(query, { ...options, scope: this.#scope(options) });
        return hits.map((hit) => ({ ...hit, server: source.serverOf(hit.server) }));
      },
    };
  }

  /** Runs for every call, so it only compares a number unless something changed. */
  get snapshot(): IndexedSnapshot {
    const { revision } = this.#source;
    if (revision !== this.#revision) {
      this.#snapshot = this.#source.assemble(this.#key, this.#snapshot);
      this.#revision = revision;
    }
    return this.#snapshot;
  }

  /** The snapshot of the last access, which may be outdated. */
  get last(): IndexedSnapshot {
    return this.#snapshot;
  }

  isLive(server: ServerId): boolean {
    return this.#source.listOf(server, this.#key)?.live ?? false;
  }

  isOwn(server: ServerId): boolean {
    return this.#source.listOf(server, this.#key)?.visible !== undefined;
  }

  knows(server: ServerId, kind: ListedKind): boolean {
    return this.snapshot.listings.get(server)?.[kind] !== undefined;
  }

  fault(server: ServerId): string | undefined {
    return this.#source.listOf(server, this.#key)?.fault;
  }

  loadCached(): Promise<void> {
    return this.#source.loadCached();
  }

  onChange(listener: () => void): () => void {
    return this.#source.onChange(listener);
  }

  /**
   * Limits a search to this view, because the index contains the tools of all keys and accounts. Called for
   * each tool; the tools of one list come in a row, so the last list is kept.
   */
  #scope({ scope }: SearchOptions): (id: string, tool: string) => boolean {
    const { listings } = this.snapshot;
    let last: string | undefined;
    let server = "";
    let listing: IndexedListing | undefined;
    let whole = false;
    return (id, tool) => {
      if (id !== last) {
        last = id;
        server = this.#source.serverOf(id);
        const visible = listings.get(server);
        listing = visible && searchId(server, visible) === id ? visible : undefined;
        whole = listing?.own || (listing !== undefined && listing.tools === this.#source.searchedOf(server));
      }
      const visible = whole || listing?.tool(tool) !== undefined;
      return visible && (scope?.(server, tool) ?? true);
    };
  }
}
