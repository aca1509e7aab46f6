/**
 * A catalog view without the tools that layers hide. A listing with nothing hidden stays the same object, so
 * that clients share it.
 */
import { createHash } from "node:crypto";
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { ListedKind } from "../catalog/known-list.ts";
import { hashOf } from "../catalog/search-id.ts";
import { IndexedListing, type Listing, type Snapshot } from "../catalog/snapshot.ts";
import type { Tool } from "../catalog/tool.ts";

/**
 * Whether a tool is hidden, by the names that clients know. An empty tool name means a server without tools.
 * Pure.
 */
export type IsHidden = (server: string, tool: string, listed: Tool | undefined) => boolean;

export class FilteredView implements CatalogView {
  readonly search: CatalogView["search"];
  readonly #base: CatalogView;
  readonly #isHidden: IsHidden;
  #seen: Snapshot | undefined;
  #snapshot: FilteredSnapshot | undefined;

  constructor(base: CatalogView, isHidden: IsHidden) {
    this.#base = base;
    this.#isHidden = isHidden;
    const { mostShown } = base.search;
    this.search = {
      ...(mostShown !== undefined && { mostShown }),
      search: (query, { limit, scope }) => {
        const { snapshot } = this;
        // A search of everything is cheaper than one that asks for each tool.
        if (snapshot.isWhole) return base.search.search(query, { limit, ...(scope && { scope }) });
        const isShown = (server: string, name: string): boolean =>
          snapshot.tool(server, name) !== undefined && (scope?.(server, name) ?? true);
        return base.search.search(query, { limit, scope: isShown });
      },
    };
  }

  /** On the path of every call: filters again only if the base snapshot is another object. */
  get snapshot(): FilteredSnapshot {
    const { snapshot } = this.#base;
    if (!this.#snapshot || this.#seen !== snapshot) {
      this.#seen = snapshot;
      this.#snapshot = new FilteredSnapshot(snapshot, this.#isHidden, this.#snapshot);
    }
    return this.#snapshot;
  }

  isLive(server: string): boolean {
    return this.#base.isLive(server);
  }

  isOwn(server: string): boolean {
    return this.#base.isOwn(server);
  }

  knows(server: string, kind: ListedKind): boolean {
    return this.#base.knows(server, kind);
  }

  fault(server: string): string | undefined {
    return this.#base.fault(server);
  }

  loadCached(): Promise<void> {
    return this.#base.loadCached();
  }

  onChange(listener: () => void): () => void {
    return this.#base.onChange(listener);
  }
}

class FilteredSnapshot implements Snapshot {
  readonly listings: ReadonlyMap<string, IndexedListing>;
  /** Servers with all tools hidden. Their prompts and resources are hidden too. */
  readonly closed: ReadonlySet<string>;
  readonly #sources: ReadonlyMap<string, Listing>;
  readonly #whole: Snapshot | undefined;
  #version: number | undefined;

  /** Listings that did not change are taken from `before`. */
  constructor(base: Snapshot, isHidden: IsHidden, before: FilteredSnapshot | undefined) {
    this.#sources = base.listings;
    const closed = new Set<string>();
    this.listings = new Map(
      [...base.listings].map(([server, listing]) => {
        const known = before && before.#sources.get(server) === listing;
        const old = known ? before.listings.get(server) : undefined;
        const made = old ?? filtered(server, listing, isHidden);
        if (old ? before?.closed.has(server) : isClosed(server, listing, made, isHidden)) closed.add(server);
        return [server, made] as const;
      }),
    );
    this.closed = closed;
    this.#whole = [...this.listings].every(([server, made]) => base.listings.get(server) === made)
      ? base
      : undefined;
  }

  /** Nothing is hidden. */
  get isWhole(): boolean {
    return this.#whole !== undefined;
  }

  /** The same for equal content, also across clients. */
  get version(): number {
    if (this.#whole) return this.#whole.version;
    if (this.#version === undefined) {
      const hash = createHash("sha256");
      for (const [server, listing] of this.listings)
        hash.update(JSON.stringify(server)).update(hashOf(listing.tools));
      this.#version = hash.digest().readUIntBE(0, 6);
    }
    return this.#version;
  }

  tool(server: string, name: string): Tool | undefined {
    return this.listings.get(server)?.tool(name);
  }
}

function filtered(server: string, listing: Listing, isHidden: IsHidden): IndexedListing {
  const hidden = new Set(listing.tools.filter((tool) => isHidden(server, tool.name, tool)));
  const tools = listing.tools.filter((tool) => !hidden.has(tool));
  const closed = isClosed(server, listing, { tools }, isHidden);
  if (tools.length === listing.tools.length && !closed)
    return listing instanceof IndexedListing ? listing : new IndexedListing(listing);
  const { source, about, prompts, resources, templates, skills } = listing;
  const items = closed
    ? { prompts: [], resources: [], templates: [], skills: [] }
    : { prompts, resources, templates, skills };
  // The instructions of a server may mention its hidden tools, and its extensions tell that it is there.
  const { instructions: _, extensions: __, ...silent } = about;
  return new IndexedListing({
    tools,
    source,
    about: closed ? silent : about,
    hidden: [...(listing.hidden ?? []), ...hidden],
    ...items,
  });
}

/** A server without tools is hidden if `isHidden` says so for the server itself. */
function isClosed(
  server: string,
  { tools: all }: Listing,
  { tools: left }: Pick<Listing, "tools">,
  isHidden: IsHidden,
): boolean {
  return left.length === 0 && (all.length > 0 || isHidden(server, "", undefined));
}
