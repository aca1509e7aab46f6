/** The four merged lists of one view, made anew only when something in them changed. Shared by all sessions that see it. */
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { Item } from "../../catalog/item.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import type { Scope } from "../scope.ts";
import type { ListState } from "../surface.ts";
import { type ListForm, PublicList } from "./public-list.ts";
import { type PrefixedItems, publicNames } from "./public-names.ts";
import { placeAll } from "./uris.ts";

/** Lists kept so that a client in the middle of its pages can read on. */
const KEPT = 8;

interface Kind<T extends Item> extends ListForm {
  readonly items: (listing: Listing) => readonly T[] | undefined;
  /** Gives each its place in the list: what it is asked for by. */
  readonly place: (parts: readonly PrefixedItems<T>[]) => ReadonlyMap<string, T>;
}

/** A list that was made, and those whose parts go on from there: by the items of the next part, then by its names. */
interface Made<T extends Item> {
  readonly next: WeakMap<readonly T[], Map<string, Made<T>>>;
  list?: PublicList<T>;
}

/** Makes lists. Views that show the same get the same one, for as long as its items are somewhere. */
class ListMaker<T extends Item> {
  readonly #kind: Kind<T>;
  readonly #made: Made<T> = { next: new WeakMap() };

  constructor(kind: Kind<T>) {
    this.#kind = kind;
  }

  itemsOf(listing: Listing): readonly T[] | undefined {
    return this.#kind.items(listing);
  }

  make(parts: readonly PrefixedItems<T>[]): PublicList<T> {
    let made = this.#made;
    for (const { server, prefix, items } of parts) {
      const named = made.next.get(items) ?? new Map<string, Made<T>>();
      made.next.set(items, named);
      const name = JSON.stringify([server, prefix]);
      const next: Made<T> = named.get(name) ?? { next: new WeakMap() };
      named.set(name, next);
      made = next;
    }
    made.list ??= new PublicList<T>(this.#kind, this.#kind.place(parts));
    return made.list;
  }
}

export class MergedList<T extends Item> {
  readonly #scope: Scope;
  readonly #view: CatalogView;
  readonly #maker: ListMaker<T>;
  #snapshot: Snapshot | undefined;
  #specs: unknown;
  #complete = false;
  /** Newest first. */
  #lists: readonly PublicList<T>[];

  constructor(scope: Scope, view: CatalogView, maker: ListMaker<T>) {
    this.#scope = scope;
    this.#view = view;
    this.#maker = maker;
    this.#lists = [maker.make([])];
  }

  /** What there is now. Looks only whether anything changed: every call comes by. */
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

  /** A page of the list it was begun on, also if there is a newer one by now. */
  page(cursor: string | undefined): Raw {
    const { list } = this;
    if (cursor === undefined) return list.page(undefined);
    let refusal: RpcError | undefined;
    for (const known of this.#lists) {
      try {
        return known.page(cursor);
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
      const items = listing && this.#maker.itemsOf(listing);
      if (!items) this.#complete = false;
      else if (items.length > 0) parts.push({ server, prefix, items });
    }
    const list = this.#maker.make(parts);
    if (list !== this.#lists[0]) this.#lists = [list, ...this.#lists].slice(0, KEPT);
  }
}

/** One for all scopes: many endpoints may show the same, and a list with its pages is large. */
const TOOLS = new ListMaker<Tool>({
  member: "tools",
  key: "name",
  items: (listing) => listing.tools,
  place: publicNames,
});
const PROMPTS = new ListMaker<Item>({
  member: "prompts",
  key: "name",
  items: (listing) => listing.prompts,
  place: publicNames,
});

export interface Shelves {
  readonly tools: MergedList<Tool>;
  readonly prompts: MergedList<Item>;
  readonly resources: MergedList<Item>;
  readonly templates: MergedList<Item>;
}

/** Gives the lists of a view. */
export function createShelves(scope: Scope): (view: CatalogView) => Shelves {
  const clash = (kind: string) => (item: Item, keeper: Item) =>
    scope.log.warn(
      `${kind} ${item.name} of ${item.server} is shown under another URI: ${keeper.server} has the same URI`,
      { server: item.server },
    );
  const resources = new ListMaker<Item>({
    member: "resources",
    key: "uri",
    items: (listing) => listing.resources,
    place: (parts) => placeAll(parts, clash("resource")),
  });
  const templates = new ListMaker<Item>({
    member: "resourceTemplates",
    key: "uriTemplate",
    items: (listing) => listing.templates,
    place: (parts) => placeAll(parts, clash("resource template")),
  });
  const byView = new WeakMap<CatalogView, Shelves>();
  return (view) => {
    let shelves = byView.get(view);
    if (!shelves) {
      shelves = {
        tools: new MergedList(scope, view, TOOLS),
        prompts: new MergedList(scope, view, PROMPTS),
        resources: new MergedList(scope, view, resources),
        templates: new MergedList(scope, view, templates),
      };
      byView.set(view, shelves);
    }
    return shelves;
  };
}
