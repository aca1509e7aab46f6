/** An immutable snapshot of all visible lists. Readers may keep it. */
import type { ServerId } from "../kernel/call.ts";
import type { About } from "./about.ts";
import { ITEM_KINDS, type Item, type Items } from "./item.ts";
import type { Tool } from "./tool.ts";
import { pageOf } from "./tool-app.ts";

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
  /** Pages that tools name which are not in `tools`. They are the server's all the same. */
  readonly hiddenPages?: readonly string[];
}

export interface Snapshot {
  /** Changes with the visible content. A source that only became live does not change it. */
  readonly version: number;
  readonly listings: ReadonlyMap<ServerId, Listing>;
  tool(server: ServerId, name: string): Tool | undefined;
}

const NONE: readonly string[] = [];

/** The pages of hidden tools, with those that were hidden before. */
export function pagesOfHidden(hidden: readonly Tool[], before: readonly string[] = NONE): readonly string[] {
  const pages = hidden.map(({ definition }) => pageOf(definition)).filter((page) => page !== undefined);
  return pages.length === 0 ? before : [...new Set([...before, ...pages])].toSorted();
}

/** A listing with an index of its tools by name. */
export class IndexedListing implements Listing {
  readonly tools: readonly Tool[];
  readonly source: "live" | "cache";
  readonly about: About;
  readonly own: boolean;
  readonly hiddenPages: readonly string[];
  readonly prompts: readonly Item[] | undefined;
  readonly resources: readonly Item[] | undefined;
  readonly templates: readonly Item[] | undefined;
  readonly skills: readonly Item[] | undefined;
  #byName: ReadonlyMap<string, Tool> | undefined;

  constructor({ tools, source, about, own = false, hiddenPages = NONE, ...items }: Listing) {
    const { prompts, resources, templates, skills } = items;
    this.tools = tools;
    this.own = own;
    this.hiddenPages = hiddenPages;
    this.source = source;
    this.about = about;
    this.prompts = prompts;
    this.resources = resources;
    this.templates = templates;
    this.skills = skills;
  }

  /** A copy with source "cache", for clients of other list keys. */
  unconfirmed(): IndexedListing {
    const { tools, own, about, hiddenPages, prompts, resources, templates, skills } = this;
    const items = { prompts, resources, templates, skills };
    return new IndexedListing({ tools, own, about, hiddenPages, ...items, source: "cache" });
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
  const samePages = a.hiddenPages.join("\n") === b.hiddenPages.join("\n");
  const sameTools = a.tools === b.tools && a.about === b.about && samePages;
  return sameTools && ITEM_KINDS.every((kind) => a[kind] === b[kind]);
}
