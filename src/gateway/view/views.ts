/** Views of endpoints on what the children list. Made from parts that are shared: what did not change is the same object, and what was made is counted. */
import { createHash } from "node:crypto";
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { Tool } from "../../catalog/tool.ts";
import { publicNames } from "../../surface/aggregate/public-names.ts";
import type { CompiledEndpoint, CompiledNamespace } from "../compile.ts";
import type { NamespacePart } from "../part.ts";

import { ServerView, type Target } from "./server-view.ts";

/** What a server is known to have, by uuid. */
export type ListingOf = (server: string) => Listing | undefined;

/** What the clients of an endpoint see: a snapshot of the catalog in which servers and tools have their public names. */
export class View implements Snapshot {
  /** By the names that clients know the servers by. */
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

  /** The same wherever the same is seen, in other processes too. */
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

  /** What a public name of that server means; undefined where it means nothing here. */
  resolve(server: string, name: string): Target | undefined {
    return this.servers.get(server)?.resolve(name);
  }

  /** All tools by the one name each has in a list of all. */
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
  /** Of servers that nothing is known of. */
  readonly #unknown = new WeakMap<NamespacePart, ServerView>();
  /** Views by the server views they consist of, in order. */
  readonly #root: Node = { next: new WeakMap() };
  /** By the list of parts: what was last asked for, which is mostly what is asked for next. */
  readonly #last = new WeakMap<
    readonly unknown[],
    { listings: readonly (Listing | undefined)[]; view: View }
  >();
  #madeServers = 0;
  #madeViews = 0;

  /** How many were made so far. */
  get counts(): { readonly servers: number; readonly views: number } {
    return { servers: this.#madeServers, views: this.#madeViews };
  }

  ofEndpoint({ parts }: Pick<CompiledEndpoint, "parts">, listingOf: ListingOf): View {
    return this.#view(parts, ({ part }) => part, listingOf);
  }

  ofNamespace({ parts }: Pick<CompiledNamespace, "parts">, listingOf: ListingOf): View {
    return this.#view(parts, (part) => part, listingOf);
  }

  /** The same object for the same parts and listings, whoever asks. */
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
