/** The catalog view of clients at an endpoint: a view of the engine with the names of the endpoint. */
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { ListedKind } from "../../catalog/known-list.ts";
import type { Hit, SearchOptions } from "../../catalog/search/strategy.ts";
import type { Listing, Snapshot } from "../../catalog/snapshot.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { CompiledEndpoint } from "../compile.ts";
import type { ServerView } from "../view/server-view.ts";
import type { View, Views } from "../view/views.ts";
import type { OverrideSearch } from "./override-search.ts";

export interface EndpointViewParts {
  /** The currently compiled endpoint. */
  readonly current: () => CompiledEndpoint;
  readonly views: Views;
  readonly search: OverrideSearch;
  readonly reachable: Reachability;
}

/** Whether servers can be reached after a change, by uuid. */
export interface Reachability {
  /** Changes whenever a result may have changed. */
  readonly version: number;
  /** Why the server cannot be reached since its last change. Its tools are hidden then. */
  fault(server: string): string | undefined;
  /** The server is reconnecting. Its old tools are shown until the new ones are known. */
  changing(server: string): boolean;
}

interface Seen {
  readonly snapshot: Snapshot;
  readonly endpoint: CompiledEndpoint;
  readonly version: number;
}

export class EndpointView implements CatalogView {
  readonly search: CatalogView["search"];
  readonly #base: CatalogView;
  readonly #parts: EndpointViewParts;
  #seen: Seen | undefined;
  #view: View | undefined;
  /** By id in the search index: looks up the shown tool of that name. */
  #bySearchId: ReadonlyMap<string, (name: string) => Tool | undefined> = new Map();
  #listings: ReadonlyMap<string, Listing> = new Map();

  constructor(base: CatalogView, parts: EndpointViewParts) {
    this.#base = base;
    this.#parts = parts;
    const { mostShown } = base.search;
    this.search = {
      ...(mostShown !== undefined && { mostShown }),
      search: (query, options) => this.#search(query, options),
    };
  }

  /** Runs on every call, so it only checks whether anything changed. */
  get snapshot(): View {
    const { snapshot } = this.#base;
    const { current, views, reachable } = this.#parts;
    const { version } = reachable;
    const endpoint = current();
    const seen = this.#seen;
    const same = seen?.snapshot === snapshot && seen.endpoint === endpoint && seen.version === version;
    if (this.#view && same) return this.#view;
    this.#seen = { snapshot, endpoint, version };
    this.#listings = this.#shown(endpoint, snapshot);
    this.#view = views.ofEndpoint(endpoint, (server) => this.#listings.get(server));
    this.#bySearchId = new Map([...this.#view.servers.values()].flatMap(searchEntries));
    return this.#view;
  }

  #shown({ parts }: CompiledEndpoint, { listings }: Snapshot): ReadonlyMap<string, Listing> {
    const { reachable } = this.#parts;
    const before = this.#listings;
    return new Map(
      parts.flatMap(({ part: { server } }) => {
        if (reachable.fault(server) !== undefined) return [];
        const listing = listings.get(server) ?? (reachable.changing(server) ? before.get(server) : undefined);
        return listing ? [[server, listing] as const] : [];
      }),
    );
  }

  /** Whether the server, by uuid, lists a tool of this own name, shown or not. */
  lists(server: string, own: string): boolean {
    return this.#base.snapshot.tool(server, own) !== undefined;
  }

  isLive(server: string): boolean {
    const uuid = this.#reachable(server);
    return uuid !== undefined && this.#base.isLive(uuid);
  }

  isOwn(server: string): boolean {
    const uuid = this.#reachable(server);
    return uuid !== undefined && this.#base.isOwn(uuid);
  }

  knows(server: string, kind: ListedKind): boolean {
    const uuid = this.#reachable(server);
    return uuid !== undefined && this.#base.knows(uuid, kind);
  }

  fault(server: string): string | undefined {
    const uuid = this.#uuidOf(server);
    return uuid === undefined ? undefined : (this.#parts.reachable.fault(uuid) ?? this.#base.fault(uuid));
  }

  loadCached(): Promise<void> {
    return this.#base.loadCached();
  }

  onChange(listener: () => void): () => void {
    return this.#base.onChange(listener);
  }

  #uuidOf(server: string): string | undefined {
    return this.snapshot.servers.get(server)?.part.server;
  }

  #reachable(server: string): string | undefined {
    const uuid = this.#uuidOf(server);
    return uuid !== undefined && this.#parts.reachable.fault(uuid) === undefined ? uuid : undefined;
  }

  /** Ranks the tools with their texts at the endpoint, and returns their names at the endpoint. */
  async #search(query: string, { limit, scope }: SearchOptions): Promise<readonly Hit[]> {
    const { search } = this.#parts;
    const view = this.snapshot;
    const bySearchId = this.#bySearchId;
    search.hold(view);
    const shown = (id: string, name: string) => {
      const tool = bySearchId.get(id)?.(name);
      return tool && (scope?.(tool.server, tool.name) ?? true) ? tool : undefined;
    };
    const hits = await search.strategy.search(query, {
      limit,
      scope: (id, name) => shown(id, name) !== undefined,
    });
    return hits.flatMap((hit) => {
      const tool = shown(hit.server, hit.name);
      return tool ? [{ ...hit, server: tool.server, name: tool.name }] : [];
    });
  }
}

function searchEntries(
  server: ServerView,
): readonly (readonly [string, (name: string) => Tool | undefined])[] {
  const { unchanged, changed } = server.searchIds;
  return [
    [unchanged, (name) => server.unchanged(name)],
    [changed, (name) => server.listing?.tool(name)],
  ];
}
