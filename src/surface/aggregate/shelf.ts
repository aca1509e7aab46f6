/** The four merged lists, made anew only when something in them changed. Shared by all sessions. */
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { Item } from "../../catalog/item.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import type { ListState } from "../face.ts";
import type { Scope } from "../scope.ts";
import { nameAll, type Part } from "./names.ts";
import { type ListForm, PublicList } from "./public-list.ts";
import { placeAll } from "./uris.ts";

/** Lists kept so that a client in the middle of its pages can read on. */
const KEPT = 8;

interface Kind<T extends Item> extends ListForm {
  readonly items: (listing: Listing) => readonly T[] | undefined;
  /** Gives each its place in the list: what it is asked for by. */
  readonly place: (parts: readonly Part<T>[]) => ReadonlyMap<string, T>;
}

export class Shelf<T extends Item> {
  readonly #scope: Scope;
  readonly #kind: Kind<T>;
  #snapshot: Snapshot | undefined;
  #specs: unknown;
  #complete = false;
  #parts: readonly Part<T>[] = [];
  /** Newest first. */
  #lists: readonly PublicList<T>[];

  constructor(scope: Scope, kind: Kind<T>) {
    this.#scope = scope;
    this.#kind = kind;
    this.#lists = [new PublicList<T>(kind, new Map())];
  }

  /** What there is now. Looks only whether anything changed: every call comes by. */
  get list(): PublicList<T> {
    const { snapshot } = this.#scope.catalog;
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
    const parts: Part<T>[] = [];
    this.#complete = true;
    for (const [server, { prefix }] of specs) {
      const listing = snapshot.listings.get(server);
      const items = listing && this.#kind.items(listing);
      if (!items) this.#complete = false;
      else if (items.length > 0) parts.push({ server, prefix, items });
    }
    if (sameParts(parts, this.#parts)) return;
    this.#parts = parts;
    const list = new PublicList<T>(this.#kind, this.#kind.place(parts));
    this.#lists = [list, ...this.#lists].slice(0, KEPT);
  }
}

function sameParts<T extends Item>(a: readonly Part<T>[], b: readonly Part<T>[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ server, prefix, items }, at) => {
      const other = b[at];
      return other?.server === server && other.prefix === prefix && other.items === items;
    })
  );
}

export interface Shelves {
  readonly tools: Shelf<Tool>;
  readonly prompts: Shelf<Item>;
  readonly resources: Shelf<Item>;
  readonly templates: Shelf<Item>;
}

export function createShelves(scope: Scope): Shelves {
  const clash = (kind: string) => (item: Item, keeper: Item) =>
    scope.log.warn(
      `${kind} ${item.name} of ${item.server} is shown under an address of its own: ${keeper.server} has the same`,
      { server: item.server },
    );
  return {
    tools: new Shelf<Tool>(scope, {
      member: "tools",
      key: "name",
      items: ({ tools }) => tools,
      place: nameAll,
    }),
    prompts: new Shelf<Item>(scope, {
      member: "prompts",
      key: "name",
      items: ({ prompts }) => prompts,
      place: nameAll,
    }),
    resources: new Shelf<Item>(scope, {
      member: "resources",
      key: "uri",
      items: ({ resources }) => resources,
      place: (parts) => placeAll(parts, clash("resource")),
    }),
    templates: new Shelf<Item>(scope, {
      member: "resourceTemplates",
      key: "uriTemplate",
      items: ({ templates }) => templates,
      place: (parts) => placeAll(parts, clash("resource template")),
    }),
  };
}
