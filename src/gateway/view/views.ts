/**
 * Creates the views of endpoints. Views are built from shared parts: an unchanged part is the same object.
 * Counts what it creates, for tests.
 */
import { createHash } from "node:crypto";
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { Tool } from "../../catalog/tool.ts";
import { publicNames } from "../../surface/aggregate/public-names.ts";
import type { CompiledEndpoint, CompiledNamespace } from "../compile.ts";
import type { NamespacePart } from "../part.ts";

import { ServerView, type Target } from "./server-view.ts";

/** The listing of a server, by uuid. */
export type ListingOf = (server: string) => Listing | undefined;

/** What clients of an endpoint see: a snapshot of the catalog with the public names of servers and tools. */
export class View implements Snapshot {
  /** By public name. */
  readonly servers: ReadonlyMap<string, ServerView>;
  readonly listings: ReadonlyMap<string, Listing>;
  #version: number | undefined;
  #names: ReadonlyMap<string, Tool> | undefined;

  constructor(servers: readonly ServerView[]) {
    this.servers = new Map(servers.map((server) => [server.part.name, server]));
    this.listings = new Map(
      servers.flatMap(({ part, listing }) => (listing ? [[part.name, listing] as const] : [])),
    );
  }

  /** Equal for equal content, in other processes too. */
  get version(): number {
    if (this.#version === undefined) {
      const hash = createHash("sha256");
      for (const server of this.servers.values()) hash.update(server.hash);
      this.#version = hash.digest().readUIntBE(0, 6);
    }
    return this.#version;
  }

  tool(server: string, name: string): Tool | undefined {
    return this.servers.get(server)?.listing?.tool(name);
  }

  /** The tool behind a public name; undefined if there is none. */
  resolve(server: string, name: string): Target | undefined {
    return this.servers.get(server)?.resolve(name);
  }

  /** All tools by their name on the aggregate surface. */
  get publicNames(): ReadonlyMap<string, Tool> {
    this.#names ??= publicNames(
      [...this.servers.values()].map(({ part: { name: server, prefix }, listing }) => ({
        server,
        prefix,
        items: listing?.tools ?? [],
      })),
    );
    return this.#names;
  }
}

interface Node {
  readonly next: WeakMap<ServerView, Node>;
  view?: View;
}

export class Views {
  readonly #servers = new WeakMap<Listing, WeakMap<NamespacePart, ServerView>>();
  /** For servers without a known listing. */
  readonly #unknown = new WeakMap<NamespacePart, ServerView>();
  /** A tree of views, by the sequence of server views that they consist of. */
  readonly #root: Node = { next: new WeakMap() };
  /** The last view for each list of parts, because the same one is usually requested again. */
  readonly #last = new WeakMap<
    readonly unknown[],
    { listings: readonly (Listing | undefined)[]; view: View }
  >();
  #madeServers = 0;
  #madeViews = 0;

  /** The number of created objects. */
  get counts(): { readonly servers: number; readonly views: number } {
    return { servers: this.#madeServers, views: this.#madeViews };
  }

  ofEndpoint({ parts }: Pick<CompiledEndpoint, "parts">, listingOf: ListingOf): View {
    return this.#view(parts, ({ part }) => part, listingOf);
  }

  ofNamespace({ parts }: Pick<CompiledNamespace, "parts">, listingOf: ListingOf): View {
    return this.#view(parts, (part) => part, listingOf);
  }

  /** Returns the same object for the same parts and listings. */
  #view<P>(parts: readonly P[], partOf: (placed: P) => NamespacePart, listingOf: ListingOf): View {
    const listings = parts.map((placed) => listingOf(partOf(placed).server));
    const last = this.#last.get(parts);
    if (last?.listings.every((listing, at) => listing === listings[at])) return last.view;
    const servers = parts
      .map(partOf)
      .flatMap((part, at) => (part.off ? [] : [this.#server(part, listings[at])]));
    const view = this.#viewOf(servers);
    this.#last.set(parts, { listings, view });
    return view;
  }

  #viewOf(servers: readonly ServerView[]): View {
    let node = this.#root;
    for (const server of servers) {
      const next: Node = node.next.get(server) ?? { next: new WeakMap() };
      node.next.set(server, next);
      node = next;
    }
    if (!node.view) {
      node.view = new View(servers);
      this.#madeViews += 1;
    }
    return node.view;
  }

  #server(part: NamespacePart, listing: Listing | undefined): ServerView {
    const byPart = listing
      ? (this.#servers.get(listing) ?? new WeakMap<NamespacePart, ServerView>())
      : this.#unknown;
    if (listing) this.#servers.set(listing, byPart);
    let made = byPart.get(part);
    if (!made) {
      made = new ServerView(part, listing);
      byPart.set(part, made);
      this.#madeServers += 1;
    }
    return made;
  }
}
