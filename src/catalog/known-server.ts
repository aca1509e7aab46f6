/**
 * The catalog's state of one configured server: its lists by list key, and the part of them that the rules
 * make visible.
 */
import type { ListKey } from "../kernel/list-key.ts";
import { type About, sameAbout } from "./about.ts";
import { ITEM_KINDS, type Items } from "./item.ts";
import { KnownList } from "./known-list.ts";
import { sameEntries } from "./same.ts";
import { hasPages, IndexedListing, sameContent } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

/** The key of a list from the disk cache that was stored without a key. */
export const ANY_KEY: ListKey = "";
/** Limits the number of kept lists, because clients can declare any capabilities. */
const MAX_KEYS = 16;

/** How the visible lists changed. "source": the same content, but from another source (cache or live). */
export type ListChange = "none" | "source" | "content";

export interface ServerRules {
  /**
   * Identifies the cache entry: a hash of command, args, url, env names and credential. It may be computed
   * when it is read, so it is read late and not copied.
   */
  readonly identity: string;
  readonly permits: (tool: string) => boolean;
}

export class KnownServer {
  permits: (tool: string) => boolean;
  /** True if the lists belong to one account. */
  readonly own: boolean;
  /** The disk cache has been read or is being read. */
  cacheRequested = false;
  /** The content of the search index: the tools of all keys, each name once, and the server's description. */
  searchedTools: readonly Tool[] | undefined;
  searchedAbout: About | undefined;
  readonly #lists = new Map<ListKey, KnownList>();
  /** The listing for clients whose key has no list. */
  #fallback: IndexedListing | undefined;

  readonly #given: ServerRules;

  constructor(given: ServerRules, own = false) {
    this.#given = given;
    this.permits = given.permits;
    this.own = own;
  }

  get identity(): string {
    return this.#given.identity;
  }

  /** The visible listing of each key. */
  get listings(): readonly IndexedListing[] {
    return this.#all(({ visible }) => visible);
  }

  get keys(): Iterable<ListKey> {
    return this.#lists.keys();
  }

  get hasList(): boolean {
    return this.#best() !== undefined;
  }

  /** Why no list is known. */
  get fault(): string | undefined {
    return this.hasList ? undefined : this.#all(({ fault }) => fault)[0];
  }

  /** What was wrong with its lists, although they can be used. */
  get problems(): readonly string[] {
    return [...new Set(this.#all(({ problems }) => [...problems.values()].flat()).flat())];
  }

  get live(): boolean {
    for (const { live } of this.#lists.values()) if (live) return true;
    return false;
  }

  get(key: ListKey): KnownList | undefined {
    return this.#lists.get(key);
  }

  /** The list of that key; creates it if needed. */
  listFor(key: ListKey): KnownList {
    let list = this.#lists.get(key);
    if (!list) {
      if (this.#lists.size >= MAX_KEYS) this.#lists.delete(this.#keyToEvict());
      list = new KnownList();
      this.#lists.set(key, list);
    }
    return list;
  }

  /** Drops the cached list without a key once a connection has listed for its key. */
  dropUnkeyed(key: ListKey): void {
    if (key !== ANY_KEY) this.#lists.delete(ANY_KEY);
  }

  /**
   * The listing that a client of that key sees: the list of its key, else the list of another key, marked as
   * unconfirmed. Without a key: the best known list.
   */
  listing(key: ListKey | undefined): IndexedListing | undefined {
    const own = key === undefined ? undefined : this.#lists.get(key)?.visible;
    if (own) return own;
    return key === undefined ? this.#best()?.visible : this.#fallback;
  }

  /** Computes the visible listings again. Equal listings stay the same object, over time and over keys. */
  updateVisible(): ListChange {
    const fallbackBefore = this.#fallback;
    let change: ListChange = "none";
    const differs = (before: IndexedListing | undefined, after: IndexedListing | undefined): void => {
      if (!sameContent(before, after)) change = "content";
      else if (before !== after && change === "none") change = "source";
    };
    for (const list of this.#lists.values()) {
      const before = list.visible;
      list.visible = this.#visibleListing(list);
      list.unconfirmed = list.visible && this.#unconfirmed(list, list.visible);
      // Before its first list, clients of this key saw the fallback.
      differs(before ?? fallbackBefore, list.visible ?? before ?? fallbackBefore);
    }
    this.#fallback = this.#best()?.unconfirmed;
    differs(fallbackBefore, this.#fallback);
    return change;
  }

  /**
   * Merges the tools of all keys for the search, those of the best list first. Returns false if nothing
   * changed.
   */
  mergeSearched(): boolean {
    const { searchedTools, searchedAbout } = this;
    const best = this.#best()?.visible;
    const others = this.#all(({ visible }) => visible).filter(({ tools }) => tools !== best?.tools);
    const byName = new Map<string, Tool>();
    for (const { tools } of [...(best ? [best] : []), ...others])
      for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    const merged = others.length === 0 ? best?.tools : [...byName.values()];
    if (others.length === 0 || !sameEntries(searchedTools, merged)) this.searchedTools = merged;
    this.searchedAbout = best?.about;
    return this.searchedTools !== searchedTools || this.searchedAbout !== searchedAbout;
  }

  /**
   * Reuses equal tools and items of other keys, so that data derived from them (by object identity) is
   * computed once.
   */
  shareObjects(list: KnownList): void {
    const { toolList } = list;
    for (const other of this.#lists.values()) {
      if (other === list) continue;
      if (toolList && other.toolList && sameEntries(other.toolList.tools, toolList.tools))
        list.toolList = { ...toolList, tools: other.toolList.tools };
      list.items = sharedItems(list.items, other.items);
    }
  }

  #visibleListing(list: KnownList): IndexedListing | undefined {
    const { toolList } = list;
    if (!toolList) return undefined;
    const isShown = ({ name }: Tool): boolean => this.permits(name) && !toolList.blocked.has(name);
    const allowed = toolList.tools.filter(isShown);
    const known = [list.visible, ...this.#all(({ visible }) => visible)].filter((one) => one !== undefined);
    const tools = known.find((one) => sameEntries(one.tools, allowed))?.tools ?? allowed;
    const shown = shownAbout(list, toolList.about);
    const about = known.find((one) => sameAbout(one.about, shown))?.about ?? shown;
    // Only apps know them: otherwise clients are not told of changes that they do not see.
    const others = hasPages(toolList) ? toolList.tools.filter((tool) => !isShown(tool)) : [];
    const hidden = known.find((one) => sameEntries(one.hidden, others))?.hidden ?? others;
    const items = { ...list.items, prompts: shownPrompts(list, known) };
    const source = list.live ? ("live" as const) : ("cache" as const);
    const listing = { tools, about, source, own: this.own, hidden, ...items };
    return reuseEqual(new IndexedListing(listing), known);
  }

  #unconfirmed(list: KnownList, visible: IndexedListing): IndexedListing {
    if (visible.source === "cache") return visible;
    const known = [list.unconfirmed, ...this.#all(({ unconfirmed }) => unconfirmed)].filter(
      (one) => one !== undefined,
    );
    return reuseEqual(visible.unconfirmed(), known);
  }

  /** The first live list, else the first list. This order rarely changes what clients of other keys see. */
  #best(): KnownList | undefined {
    const known = this.#all((list) => (list.toolList ? list : undefined));
    return known.find(({ live }) => live) ?? known[0];
  }

  #keyToEvict(): ListKey {
    for (const [key, { live }] of this.#lists) if (!live) return key;
    return this.#lists.keys().next().value as ListKey;
  }

  #all<T>(of: (list: KnownList) => T | undefined): T[] {
    return Array.from(this.#lists.values(), of).filter((one) => one !== undefined);
  }
}

function shownAbout({ held }: KnownList, about: About): About {
  if (!held.instructions) return about;
  const { instructions: _, ...rest } = about;
  return rest;
}

/** Equal lists stay the same object. */
function shownPrompts({ held, items }: KnownList, known: readonly IndexedListing[]): Items["prompts"] {
  const { prompts } = items;
  if (!prompts || held.prompts.size === 0) return prompts;
  const shown = prompts.filter(({ name }) => !held.prompts.has(name));
  return known.find((one) => sameEntries(one.prompts, shown))?.prompts ?? shown;
}

function sharedItems(own: Items, others: Items): Items {
  const shared = ITEM_KINDS.filter((kind) => own[kind] && sameEntries(own[kind], others[kind]));
  return shared.length === 0
    ? own
    : { ...own, ...Object.fromEntries(shared.map((kind) => [kind, others[kind]])) };
}

/** Returns an equal known listing if there is one, else `made`. */
function reuseEqual(made: IndexedListing, known: readonly IndexedListing[]): IndexedListing {
  return known.find((one) => one.source === made.source && sameContent(one, made)) ?? made;
}
