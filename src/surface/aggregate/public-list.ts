/** One merged list as clients see it: definitions as their servers wrote them, but for the name. A value; nothing in it ever changes. */
import { createHash } from "node:crypto";
import type { Item } from "../../catalog/item.ts";
import { joinArray } from "../../catalog/json-array.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, withMember } from "../../rpc/slice.ts";
import { readCursor, writeCursor } from "../cursor.ts";

/** Large, since some clients read the first page only. */
const PAGE = 500;

export interface ListForm {
  /** Under which the entries stand in an answer: "tools". */
  readonly member: string;
  /** What an entry is asked for by: "name", "uri". */
  readonly key: string;
}

export class PublicList<T extends Item> {
  readonly #form: ListForm;
  readonly #byName: ReadonlyMap<string, T>;
  readonly #pages = new Map<number, Raw>();
  #version: string | undefined;

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

  /** The same for lists in which a client sees the same, in whatever order. */
  get version(): string {
    if (this.#version === undefined) {
      const hash = createHash("sha256");
      for (const definition of this.#definitions().sort((a, b) => a.compare(b)))
        hash.update(definition).update("\n");
      this.#version = hash.digest("base64url");
    }
    return this.#version;
  }

  /** What it costs to show it. */
  get bytes(): number {
    return this.#definitions().reduce((sum, definition) => sum + definition.length, 0);
  }

  /** Throws RpcError for a cursor that is not of this list. */
  page(cursor: string | undefined): Raw {
    const offset = cursor === undefined ? 0 : readCursor(cursor, this.#binding);
    let page = this.#pages.get(offset);
    if (!page) {
      page = this.#write(offset);
      this.#pages.set(offset, page);
    }
    return page;
  }

  #write(offset: number): Raw {
    const end = offset + PAGE;
    const nextCursor = end < this.#byName.size ? toRaw(writeCursor(end, this.#binding)) : undefined;
    return joinObject([
      [this.#form.member, joinArray(this.#definitions(offset, end))],
      ["nextCursor", nextCursor],
    ]);
  }

  #definitions(from?: number, to?: number): Raw[] {
    const { key } = this.#form;
    return [...this.#byName]
      .slice(from, to)
      .map(([name, item]) =>
        name === item.name ? item.definition : withMember(item.definition, key, toRaw(name)),
      );
  }

  get #binding(): string {
    return `${this.#form.member} ${this.version}`;
  }
}
