/** One configured server as the catalog knows it: its lists by connection key, and what of them the rules let be seen. */
import type { ListKey } from "../kernel/list-key.ts";
import { type About, sameAbout } from "./about.ts";
import { ITEM_KINDS, type Items } from "./item.ts";
import { KnownList } from "./known-list.ts";
import { sameEntries } from "./same.ts";
import { IndexedListing, sameContent } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

/** Of an entry in the disk cache that does not say over which key it came. */
export const ANY_KEY: ListKey = "";
/** Keys whose lists are kept; a client can declare whatever it likes. */
const MOST_KEYS = 16;

/** What changed of what can be seen. "source": nothing but who said so. */
export type ListChange = "none" | "source" | "content";

export class KnownServer {
  readonly identity: string;
  permits: (tool: string) => boolean;
  /** What is known of it is one account's alone. */
  readonly own: boolean;
  /** The disk cache was read, or is being read. */
  lookedUp = false;
  /** What is searched: the tools of all keys, each name once, and what the server says of itself. */
  searched: readonly Tool[] | undefined;
  described: About | undefined;
  readonly #lists = new Map<ListKey, KnownList>();
  /** What clients of keys that have said nothing are shown. */
  #lent: IndexedListing | undefined;

  constructor(identity: string, permits: (tool: string) => boolean, own = false) {
    this.identity = identity;
    this.permits = permits;
    this.own = own;
  }

  /** What can be seen over each key. */
  get listings(): readonly IndexedListing[] {
    return this.#all(({ shown }) => shown);
  }

  get keys(): Iterable<ListKey> {
    return this.#lists.keys();
  }

  /** Something is known of it. */
  get known(): boolean {
    return this.#best() !== undefined;
  }

  /** Why none of its lists could be had. */
  get fault(): string | undefined {
    return this.known ? undefined : this.#all(({ fault }) => fault)[0];
  }

  get live(): boolean {
    for (const { live } of this.#lists.values()) if (live) return true;
    return false;
  }

  get(key: ListKey): KnownList | undefined {
    return this.#lists.get(key);
  }

  /** The list of that key, a new one if need be. */
  at(key: ListKey): KnownList {
    let list = this.#lists.get(key);
    if (!list) {
      if (this.#lists.size >= MOST_KEYS) this.#lists.delete(this.#dispensable());
      list = new KnownList();
      this.#lists.set(key, list);
    }
    return list;
  }

  /** A key has said what it has: what nobody knows the key of is worth nothing beside it. */
  taken(key: ListKey): void {
    if (key !== ANY_KEY) this.#lists.delete(ANY_KEY);
  }

  /**
   * What a client of that key is shown: what its own key lists, else what another one did, as something that its own
   * connection has not confirmed. Without a key: the best that is known, as it is.
   */
  listing(key: ListKey | undefined): IndexedListing | undefined {
    const own = key === undefined ? undefined : this.#lists.get(key)?.shown;
    if (own) return own;
    return key === undefined ? this.#best()?.shown : this.#lent;
  }

  /** Brings what can be seen in line with what is known. What is equal is the same object, over time and over keys. */
  show(): ListChange {
    const lentBefore = this.#lent;
    let change: ListChange = "none";
    const differs = (before: IndexedListing | undefined, after: IndexedListing | undefined): void => {
      if (!sameContent(before, after)) change = "content";
      else if (before !== after && change === "none") change = "source";
    };
    for (const list of this.#lists.values()) {
      const before = list.shown;
      list.shown = this.#shown(list);
      list.lent = list.shown && this.#asCached(list, list.shown);
      // Until now clients of this key were shown what another one said.
      differs(before ?? lentBefore, list.shown ?? before ?? lentBefore);
    }
    this.#lent = this.#best()?.lent;
    differs(lentBefore, this.#lent);
    return change;
  }

  /** Joins the tools of all keys, those of the best list first. False: what is searched stays as it is. */
  join(): boolean {
    const { searched, described } = this;
    const best = this.#best()?.shown;
    const others = this.#all(({ shown }) => shown).filter(({ tools }) => tools !== best?.tools);
    const byName = new Map<string, Tool>();
    for (const { tools } of [...(best ? [best] : []), ...others])
      for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    const joined = others.length === 0 ? best?.tools : [...byName.values()];
    if (others.length === 0 || !sameEntries(searched, joined)) this.searched = joined;
    this.described = best?.about;
    return this.searched !== searched || this.described !== described;
  }

  /** Tools, items and texts that say the same are the same objects, so that what is made of them is made once. */
  share(list: KnownList): void {
    const { list: own } = list;
    for (const other of this.#lists.values()) {
      if (other === list) continue;
      if (own && other.list && sameEntries(other.list.tools, own.tools))
        list.list = { ...own, tools: other.list.tools };
      list.items = sharedItems(list.items, other.items);
    }
  }

  #shown(list: KnownList): IndexedListing | undefined {
    if (!list.list) return undefined;
    const { held } = list.list;
    const allowed = list.list.tools.filter(({ name }) => this.permits(name) && !held.has(name));
    const known = [list.shown, ...this.#all(({ shown }) => shown)].filter((one) => one !== undefined);
    const tools = known.find((one) => sameEntries(one.tools, allowed))?.tools ?? allowed;
    const about = known.find((one) => sameAbout(one.about, list.list?.about ?? {}))?.about ?? list.list.about;
    const source = list.live ? "live" : "cache";
    return same(new IndexedListing({ tools, about, source, own: this.own, ...list.items }), known);
  }

  #asCached(list: KnownList, shown: IndexedListing): IndexedListing {
    if (shown.source === "cache") return shown;
    const known = [list.lent, ...this.#all(({ lent }) => lent)].filter((one) => one !== undefined);
    return same(shown.unconfirmed(), known);
  }

  /** The first that is live, else the first: which one clients of other keys are shown seldom changes. */
  #best(): KnownList | undefined {
    const known = this.#all((list) => (list.list ? list : undefined));
    return known.find(({ live }) => live) ?? known[0];
  }

  #dispensable(): ListKey {
    for (const [key, { live }] of this.#lists) if (!live) return key;
    return this.#lists.keys().next().value as ListKey;
  }

  #all<T>(of: (list: KnownList) => T | undefined): T[] {
    return Array.from(this.#lists.values(), of).filter((one) => one !== undefined);
  }
}

function sharedItems(own: Items, others: Items): Items {
  const shared = ITEM_KINDS.filter((kind) => own[kind] && sameEntries(own[kind], others[kind]));
  return shared.length === 0
    ? own
    : { ...own, ...Object.fromEntries(shared.map((kind) => [kind, others[kind]])) };
}

/** The one among them that is equal in all. */
function same(made: IndexedListing, known: readonly IndexedListing[]): IndexedListing {
  return known.find((one) => one.source === made.source && sameContent(one, made)) ?? made;
}
