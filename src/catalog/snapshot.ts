/** An immutable snapshot of all visible lists. Readers may keep it. */
import type { ServerId } from "../kernel/call.ts";
import type { About } from "./about.ts";
import { ITEM_KINDS, type Item, type Items } from "./item.ts";
import type { Tool } from "./tool.ts";
import { APPS, pageOf } from "./tool-app.ts";

export interface Listing extends Items {
  /** Only the tools that the rules of the config allow. */
  readonly tools: readonly Tool[];
  /**
   * "cache": from an earlier process or another client's connection; not confirmed over this client's
   * connection.
   */
  readonly source: "live" | "cache";
  readonly about: About;
  /** True if only one account sees this listing. */
  readonly own?: boolean;
  /** Those that this client must not see. Their pages are the server's, and its apps know them. */
  readonly hidden?: readonly Tool[];
}

export interface Snapshot {
  /** Changes with the visible content. A source that only became live does not change it. */
  readonly version: number;
  readonly listings: ReadonlyMap<ServerId, Listing>;
  tool(server: ServerId, name: string): Tool | undefined;
}

const NONE: readonly Tool[] = [];

/** Whether a tool of the server names the page, also one that this client must not see. */
export function namesPage({ tools, hidden = NONE }: Listing, uri: string): boolean {
  const names = ({ definition }: Tool): boolean => pageOf(definition) === uri;
  return tools.some(names) || hidden.some(names);
}

/** Whether the server has pages. One whose tools name none may name them in results. */
export function hasPages({
  tools,
  hidden = NONE,
  about,
}: Pick<Listing, "tools" | "hidden" | "about">): boolean {
  const names = ({ definition }: Tool): boolean => pageOf(definition) !== undefined;
  return tools.some(names) || hidden.some(names) || about.extensions?.includes(APPS) === true;
}

/** A listing with an index of its tools by name. */
export class IndexedListing implements Listing {
  readonly tools: readonly Tool[];
  readonly source: "live" | "cache";
  readonly about: About;
  readonly own: boolean;
  readonly hidden: readonly Tool[];
  readonly prompts: readonly Item[] | undefined;
  readonly resources: readonly Item[] | undefined;
  readonly templates: readonly Item[] | undefined;
  readonly skills: readonly Item[] | undefined;
  #byName: ReadonlyMap<string, Tool> | undefined;

  constructor({ tools, source, about, own = false, hidden = NONE, ...items }: Listing) {
    const { prompts, resources, templates, skills } = items;
    this.tools = tools;
    this.own = own;
    this.hidden = hidden;
    this.source = source;
    this.about = about;
    this.prompts = prompts;
    this.resources = resources;
    this.templates = templates;
    this.skills = skills;
  }

  /** A copy with source "cache", for clients of other list keys. */
  unconfirmed(): IndexedListing {
    const { tools, own, about, hidden, prompts, resources, templates, skills } = this;
    const items = { prompts, resources, templates, skills };
    return new IndexedListing({ tools, own, about, hidden, ...items, source: "cache" });
  }

  tool(name: string): Tool | undefined {
    this.#byName ??= new Map(this.tools.map((tool) => [tool.name, tool]));
    return this.#byName.get(name);
  }
}

export class IndexedSnapshot implements Snapshot {
  readonly version: number;
  readonly listings: ReadonlyMap<ServerId, IndexedListing>;

  constructor(version: number, listings: ReadonlyMap<ServerId, IndexedListing>) {
    this.version = version;
    this.listings = listings;
  }

  tool(server: ServerId, name: string): Tool | undefined {
    return this.listings.get(server)?.tool(name);
  }

  /** Whether it consists of the same listing objects. */
  has(listings: ReadonlyMap<ServerId, IndexedListing>): boolean {
    return this.#compare(listings, (own, other) => own === other);
  }

  /** Whether it has the same visible content. */
  shows(listings: ReadonlyMap<ServerId, IndexedListing>): boolean {
    return this.#compare(listings, sameContent);
  }

  #compare(
    listings: ReadonlyMap<ServerId, IndexedListing>,
    same: (own: IndexedListing | undefined, other: IndexedListing) => boolean,
  ): boolean {
    if (listings.size !== this.listings.size) return false;
    for (const [server, listing] of listings) if (!same(this.listings.get(server), listing)) return false;
    return true;
  }
}

/** Compares by object identity, because equal parts of listings are the same objects. */
export function sameContent(a: IndexedListing | undefined, b: IndexedListing | undefined): boolean {
  if (!a || !b) return a === b;
  const sameTools = a.tools === b.tools && a.hidden === b.hidden && a.about === b.about;
  return sameTools && ITEM_KINDS.every((kind) => a[kind] === b[kind]);
}
