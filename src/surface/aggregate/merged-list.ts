/**
 * The merged lists of one view. Rebuilt only when their content changed, and shared by all sessions with
 * that view.
 */
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { Item } from "../../catalog/item.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { ServerId } from "../../kernel/call.ts";
import { perObject } from "../../kernel/per-object.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import type { Cursors } from "../cursor.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ListState } from "../surface.ts";
import { legacyTool } from "./legacy-tool.ts";
import { withOwnPages } from "./pages.ts";
import { type ListForm, PublicList } from "./public-list.ts";
import { type PrefixedItems, publicNames } from "./public-names.ts";
import { CACHE_HINTS, skillAt } from "./skill-entry.ts";
import { addressOf, assignUris } from "./uris.ts";

/** Earlier lists that are kept, so that a client can read the remaining pages of one. */
const KEPT_LISTS = 8;

interface ListKind<T extends Item> extends ListForm {
  readonly items: (listing: Listing) => readonly T[] | undefined;
  /** Returns all items by the name or URI that clients use. */
  readonly assignKeys: (parts: readonly PrefixedItems<T>[]) => ReadonlyMap<string, T>;
}

/**
 * A node of a tree of cached lists. The path to a node is the sequence of parts: their items, then server and
 * prefix.
 */
interface CacheNode<T extends Item> {
  readonly next: WeakMap<readonly T[], Map<string, CacheNode<T>>>;
  list?: PublicList<T>;
}

/** Caches lists, so that views with the same content share one. An entry lives as long as its items. */
class ListCache<T extends Item> {
  readonly #kind: ListKind<T>;
  readonly #root: CacheNode<T> = { next: new WeakMap() };

  constructor(kind: ListKind<T>) {
    this.#kind = kind;
  }

  itemsOf(listing: Listing): readonly T[] | undefined {
    return this.#kind.items(listing);
  }

  get(parts: readonly PrefixedItems<T>[]): PublicList<T> {
    let node = this.#root;
    for (const { server, prefix, items } of parts) {
      const byName = node.next.get(items) ?? new Map<string, CacheNode<T>>();
      node.next.set(items, byName);
      const name = JSON.stringify([server, prefix]);
      const next: CacheNode<T> = byName.get(name) ?? { next: new WeakMap() };
      byName.set(name, next);
      node = next;
    }
    node.list ??= new PublicList<T>(this.#kind, this.#kind.assignKeys(parts));
    return node.list;
  }
}

export class MergedList<T extends Item> {
  readonly #scope: ScopeCatalog;
  readonly #view: CatalogView;
  readonly #cache: ListCache<T>;
  #snapshot: Snapshot | undefined;
  #specs: unknown;
  #complete = false;
  /** Newest first. */
  #lists: readonly PublicList<T>[];

  constructor(scope: ScopeCatalog, view: CatalogView, cache: ListCache<T>) {
    this.#scope = scope;
    this.#view = view;
    this.#cache = cache;
    this.#lists = [];
  }

  /**
   * The current list. On the path of every call: updates only if the snapshot or the config is another
   * object.
   */
  get list(): PublicList<T> {
    const { snapshot } = this.#view;
    const specs = this.#scope.specs();
    if (snapshot !== this.#snapshot || specs !== this.#specs) {
      this.#snapshot = snapshot;
      this.#specs = specs;
      this.#update(snapshot, specs);
    }
    return this.#lists[0] as PublicList<T>;
  }

  get state(): ListState {
    return { version: this.list.version, complete: this.#complete };
  }

  /** Returns a page of the list that the cursor belongs to, even if there is a newer list. */
  page(cursor: string | undefined, era2026?: boolean): Raw {
    const { list } = this;
    if (cursor === undefined) return list.page(undefined, era2026);
    let refusal: RpcError | undefined;
    for (const known of this.#lists) {
      try {
        return known.page(cursor, era2026);
      } catch (error) {
        refusal ??= error as RpcError;
      }
    }
    throw refusal;
  }

  #update(snapshot: Snapshot, specs: ReturnType<Scope["specs"]>): void {
    const parts: PrefixedItems<T>[] = [];
    this.#complete = true;
    for (const [server, { prefix }] of specs) {
      const listing = snapshot.listings.get(server);
      const items = listing && this.#cache.itemsOf(listing);
      if (!items) this.#complete = false;
      else if (items.length > 0) parts.push({ server, prefix, items });
    }
    const list = this.#cache.get(parts);
    if (list !== this.#lists[0]) this.#lists = [list, ...this.#lists].slice(0, KEPT_LISTS);
  }
}

interface SharedLists {
  readonly tools: ListCache<Tool>;
  readonly prompts: ListCache<Item>;
  readonly skills: ListCache<Item>;
}

/**
 * Shared by all scopes of an engine: many endpoints may have the same list, and a list with its pages is
 * large.
 */
const SHARED = new WeakMap<Cursors, SharedLists>();

function sharedLists(cursors: Cursors): SharedLists {
  let lists = SHARED.get(cursors);
  if (!lists) {
    const named = { key: "name", assignKeys: publicNames, cursors };
    lists = {
      tools: new ListCache<Tool>({
        ...named,
        member: "tools",
        legacy: legacyTool,
        items: (listing) => listing.tools,
        assignKeys: (parts) => publicNames(withOwnPages(parts)),
      }),
      prompts: new ListCache<Item>({ ...named, member: "prompts", items: (listing) => listing.prompts }),
      skills: new ListCache<Item>({
        cursors,
        member: "skills",
        key: "uri",
        renamed: skillAt,
        more: CACHE_HINTS,
        items: (listing) => listing.skills,
        assignKeys: addresses,
      }),
    };
    SHARED.set(cursors, lists);
  }
  return lists;
}

/** Every skill has the address of its server, so that no name of another server can take its place. */
const addresses = (parts: readonly PrefixedItems<Item>[]): ReadonlyMap<string, Item> =>
  new Map(
    parts.flatMap(({ items }) => items.map((item) => [addressOf(item.server, item.name), item] as const)),
  );

export interface MergedLists {
  readonly tools: MergedList<Tool>;
  readonly prompts: MergedList<Item>;
  readonly resources: MergedList<Item>;
  readonly templates: MergedList<Item>;
  readonly skills: MergedList<Item>;
}

/** Returns a function that returns the lists of a view. */
export function createMergedLists(scope: ScopeCatalog & ScopeFacts): (view: CatalogView) => MergedLists {
  const clash = (kind: string) => (item: Item, keeper: ServerId) =>
    scope.log.warn(
      `${kind} ${item.name} of ${item.server} is shown under another URI: ${keeper} has the same URI`,
      { server: item.server },
    );
  const { cursors } = scope;
  const { tools, prompts, skills } = sharedLists(cursors);
  const resources = new ListCache<Item>({
    cursors,
    member: "resources",
    key: "uri",
    items: (listing) => listing.resources,
    assignKeys: (parts) => assignUris(parts, clash("resource")),
  });
  const templates = new ListCache<Item>({
    cursors,
    member: "resourceTemplates",
    key: "uriTemplate",
    items: (listing) => listing.templates,
    assignKeys: (parts) => assignUris(parts, clash("resource template")),
  });
  return perObject((view: CatalogView) => ({
    tools: new MergedList(scope, view, tools),
    prompts: new MergedList(scope, view, prompts),
    resources: new MergedList(scope, view, resources),
    templates: new MergedList(scope, view, templates),
    skills: new MergedList(scope, view, skills),
  }));
}
