/** What clients of one kind see of the catalog at an endpoint: the engine's view under the names of the endpoint. */
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
  /** The endpoint as it is compiled at the moment. */
  readonly current: () => CompiledEndpoint;
  readonly views: Views;
  readonly search: OverrideSearch;
  readonly reachable: Reachability;
}

/** What a change of servers did to them. By uuid. */
export interface Reachability {
  /** Another number means that something may be different. */
  readonly version: number;
  /** Why the server cannot be reached since it was changed: nothing of it is shown, whatever is known. */
  fault(server: string): string | undefined;
  /** It is being connected anew: what it showed before stays until it is known what it shows then. */
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
  /** By what tools are searched under: the tool of that name, as it is shown. */
  #places: ReadonlyMap<string, (name: string) => Tool | undefined> = new Map();
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

  /** Looks only whether anything changed: every call comes by. */
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
    this.#places = new Map([...this.#view.servers.values()].flatMap(placesOf));
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

  /** Ranks the tools as they are shown here, and gives them the names they have here. */
  async #search(query: string, { limit, scope }: SearchOptions): Promise<readonly Hit[]> {
    const { search } = this.#parts;
    const view = this.snapshot;
    const places = this.#places;
    search.hold(view);
    const shown = (id: string, name: string) => {
      const tool = places.get(id)?.(name);
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

function placesOf(server: ServerView): readonly (readonly [string, (name: string) => Tool | undefined])[] {
  const { unchanged, changed } = server.searchIds;
  return [
    [unchanged, (name) => server.unchanged(name)],
    [changed, (name) => server.listing?.tool(name)],
  ];
}
