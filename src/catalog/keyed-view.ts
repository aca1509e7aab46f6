/** What clients of one connection key, or one account, see of the catalog. */
import type { ServerId } from "../kernel/call.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { KnownList, ListedKind } from "./known-list.ts";
import type { ViewKey } from "./known-servers.ts";
import type { SearchOptions, SearchStrategy } from "./search/strategy.ts";
import { searchId } from "./search-id.ts";
import type { IndexedListing, IndexedSnapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

/** Where a view gets what it shows. */
export interface ViewSource extends Pick<CatalogView, "loadCached" | "onChange"> {
  readonly search: SearchStrategy;
  /** Another number means that there may be something else to see. */
  readonly revision: number;
  /** What there is for that key now: the very snapshot that was given where nothing changed. */
  assemble(key: ViewKey, before: IndexedSnapshot): IndexedSnapshot;
  listOf(server: ServerId, key: ViewKey): Pick<KnownList, "live" | "fault" | "shown"> | undefined;
  /** All tools of the server that are searched. */
  searchedOf(server: ServerId): readonly Tool[] | undefined;
  /** Whose tools are searched under that id. */
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

  /** Looks only whether anything changed: every call comes by. */
  get snapshot(): IndexedSnapshot {
    const { revision } = this.#source;
    if (revision !== this.#revision) {
      this.#snapshot = this.#source.assemble(this.#key, this.#snapshot);
      this.#revision = revision;
    }
    return this.#snapshot;
  }

  /** As it last looked. */
  get last(): IndexedSnapshot {
    return this.#snapshot;
  }

  isLive(server: ServerId): boolean {
    return this.#source.listOf(server, this.#key)?.live ?? false;
  }

  isOwn(server: ServerId): boolean {
    return this.#source.listOf(server, this.#key)?.shown !== undefined;
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

  /** What is searched has the tools of all keys, and lists of other accounts. Asked for each tool, list by list. */
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
        const shown = listings.get(server);
        listing = shown && searchId(server, shown) === id ? shown : undefined;
        whole = listing?.own || (listing !== undefined && listing.tools === this.#source.searchedOf(server));
      }
      const visible = whole || listing?.tool(tool) !== undefined;
      return visible && (scope?.(server, tool) ?? true);
    };
  }
}
