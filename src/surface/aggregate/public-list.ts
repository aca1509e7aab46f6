/** One merged list as clients see it: the servers' definitions with public names. Immutable. */
import { createHash } from "node:crypto";
import type { Item } from "../../catalog/item.ts";
import { joinArray } from "../../catalog/json-array.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, withMember } from "../../rpc/slice.ts";
import { digest } from "../content-hash.ts";
import type { Cursors } from "../cursor.ts";

/** Large, because some clients read only the first page. */
const PAGE_SIZE = 500;

export interface ListForm {
  /** The member of the result, e.g. "tools". */
  readonly member: string;
  /** The member that identifies an entry, e.g. "name" or "uri". */
  readonly key: string;
  /** The definition of an entry with another key than its own. Default: only its key is replaced. */
  readonly renamed?: (item: Item, name: string) => Raw;
  /** Further members of each page. */
  readonly more?: readonly (readonly [string, Raw])[];
  /** The entry for clients of the session-based era, if they need another form. */
  readonly legacy?: (definition: Raw) => Raw;
  readonly cursors: Cursors;
}

export class PublicList<T extends Item> {
  readonly #form: ListForm;
  readonly #byName: ReadonlyMap<string, T>;
  readonly #pages = new Map<number, Raw>();
  /** The same for clients of the session-based era. */
  readonly #legacyPages = new Map<number, Raw>();
  #version: string | undefined;
  #order: string | undefined;

  constructor(form: ListForm, byName: ReadonlyMap<string, T>) {
    this.#form = form;
    this.#byName = byName;
  }

  get(name: string): T | undefined {
    return this.#byName.get(name);
  }

  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  items(): IterableIterator<T> {
    return this.#byName.values();
  }

  /** The same for lists with the same entries in any order. */
  get version(): string {
    if (this.#version === undefined) {
      const hash = createHash("sha256");
      for (const definition of this.#definitions().sort((a, b) => a.compare(b)))
        hash.update(definition).update("\n");
      this.#version = hash.digest("base64url");
    }
    return this.#version;
  }

  /** The size of all definitions. */
  get bytes(): number {
    return this.#definitions().reduce((sum, definition) => sum + definition.length, 0);
  }

  /** Throws RpcError for a cursor that does not belong to this list. */
  page(cursor: string | undefined, era2026 = false): Raw {
    const offset = cursor === undefined ? 0 : this.#form.cursors.read(cursor, this.#binding);
    const pages = era2026 ? this.#pages : this.#legacyPages;
    let page = pages.get(offset);
    if (!page) {
      page = this.#write(offset, era2026);
      pages.set(offset, page);
    }
    return page;
  }

  #write(offset: number, era2026: boolean): Raw {
    const end = offset + PAGE_SIZE;
    const definitions = this.#definitions(offset, end);
    const { member, cursors, more = [], legacy = (definition) => definition } = this.#form;
    const legacyDefinitions = definitions.map(legacy);
    const same = legacyDefinitions.every((definition, at) => definition === definitions[at]);
    const other = (era2026 ? this.#legacyPages : this.#pages).get(offset);
    if (other && same) return other;
    const nextCursor = end < this.#byName.size ? toRaw(cursors.write(end, this.#binding)) : undefined;
    return joinObject([
      [member, joinArray(era2026 ? definitions : legacyDefinitions)],
      ["nextCursor", nextCursor],
      ...more,
    ]);
  }

  #definitions(from?: number, to?: number): Raw[] {
    const { key, renamed = (item, name) => withMember(item.definition, key, toRaw(name)) } = this.#form;
    return [...this.#byName]
      .slice(from, to)
      .map(([name, item]) => (name === item.name ? item.definition : renamed(item, name)));
  }

  /** The same entries in the same order: a position means nothing in another order. */
  get #binding(): string {
    this.#order ??= digest(this.#byName.keys());
    return `${this.#form.member} ${this.version} ${this.#order}`;
  }
}
