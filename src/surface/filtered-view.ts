/** A view without what layers hide. What nothing is hidden of stays the same object, so that all who see it share it. */
import { createHash } from "node:crypto";
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { ListedKind } from "../catalog/known-list.ts";
import { IndexedListing, type Listing, type Snapshot } from "../catalog/snapshot.ts";
import type { Tool } from "../catalog/tool.ts";

/** Whether a tool, by the names that clients know, is hidden; without a name, a server that has no tools. Pure. */
export type Hides = (server: string, tool: string, listed: Tool | undefined) => boolean;

export class FilteredView implements CatalogView {
  readonly search: CatalogView["search"];
  readonly #base: CatalogView;
  readonly #hides: Hides;
  #seen: Snapshot | undefined;
  #snapshot: FilteredSnapshot | undefined;

  constructor(base: CatalogView, hides: Hides) {
    this.#base = base;
    this.#hides = hides;
    const { mostShown } = base.search;
    this.search = {
      ...(mostShown !== undefined && { mostShown }),
      search: (query, { limit, scope }) =>
        base.search.search(query, {
          limit,
          scope: (server, name) =>
            this.snapshot.tool(server, name) !== undefined && (scope?.(server, name) ?? true),
        }),
    };
  }

  /** Looks only whether anything changed: every call comes by. */
  get snapshot(): FilteredSnapshot {
    const { snapshot } = this.#base;
    if (!this.#snapshot || this.#seen !== snapshot) {
      this.#seen = snapshot;
      this.#snapshot = new FilteredSnapshot(snapshot, this.#hides, this.#snapshot);
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
  /** Servers of which nothing is left: their prompts and resources are not there either. */
  readonly closed: ReadonlySet<string>;
  readonly #sources: ReadonlyMap<string, Listing>;
  readonly #whole: Snapshot | undefined;
  #version: number | undefined;

  constructor(base: Snapshot, hides: Hides, before: FilteredSnapshot | undefined) {
    this.#sources = base.listings;
    const closed = new Set<string>();
    this.listings = new Map(
      [...base.listings].map(([server, listing]) => {
        const known = before && before.#sources.get(server) === listing;
        const old = known ? before.listings.get(server) : undefined;
        const made = old ?? filtered(server, listing, hides);
        if (old ? before?.closed.has(server) : isClosed(server, listing, made, hides)) closed.add(server);
        return [server, made] as const;
      }),
    );
    this.closed = closed;
    this.#whole = [...this.listings].every(([server, made]) => base.listings.get(server) === made)
      ? base
      : undefined;
  }

  /** The same wherever the same is seen. */
  get version(): number {
    if (this.#whole) return this.#whole.version;
    if (this.#version === undefined) {
      const hash = createHash("sha256");
      for (const [server, listing] of this.listings)
        hash.update(JSON.stringify(server)).update(markOf(listing));
      this.#version = hash.digest().readUIntBE(0, 6);
    }
    return this.#version;
  }

  tool(server: string, name: string): Tool | undefined {
    return this.listings.get(server)?.tool(name);
  }
}

function filtered(server: string, listing: Listing, hides: Hides): IndexedListing {
  const tools = listing.tools.filter((tool) => !hides(server, tool.name, tool));
  const closed = isClosed(server, listing, { tools }, hides);
  if (tools.length === listing.tools.length && !closed)
    return listing instanceof IndexedListing ? listing : new IndexedListing(listing);
  const { source, about, prompts, resources, templates } = listing;
  const items = closed ? { prompts: [], resources: [], templates: [] } : { prompts, resources, templates };
  // What a server says of itself may speak of its tools.
  const { instructions: _, ...silent } = about;
  return new IndexedListing({ tools, source, about: closed ? silent : about, ...items });
}

/** One that has no tools is judged as a whole. */
function isClosed(
  server: string,
  { tools: all }: Listing,
  { tools: left }: Pick<Listing, "tools">,
  hides: Hides,
): boolean {
  return left.length === 0 && (all.length > 0 || hides(server, "", undefined));
}

const marks = new WeakMap<IndexedListing, string>();

function markOf(listing: IndexedListing): string {
  let mark = marks.get(listing);
  if (mark === undefined) {
    const hash = createHash("sha256");
    for (const { definition } of listing.tools) hash.update(definition).update("\n");
    mark = hash.digest("base64url");
    marks.set(listing, mark);
  }
  return mark;
}
