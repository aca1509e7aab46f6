/**
 * The documents of one API description, and the references within and between them. Pure: it fetches nothing
 * and resolves a reference only when it is needed.
 */
import { isRecord } from "../../kernel/is-record.ts";

export type Json = Readonly<Record<string, unknown>>;

/** A value in a document. `pointer` is its JSON Pointer there. */
export interface Located {
  readonly value: unknown;
  readonly uri: string;
  readonly pointer: string;
}

/** Something in a document is wrong. The message names the place. */
export class DocumentFault extends Error {
  constructor(problem: string, { uri, pointer }: Pick<Located, "uri" | "pointer">) {
    super(`${problem} (at #${pointer} in ${uri})`);
  }
}

/** A chain of references that is longer is taken for a circle. */
const MAX_HOPS = 32;

export class Documents {
  readonly root: Located;
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #refused: ReadonlyMap<string, string>;

  /** By address; the first is the root. `refused`: why others were not read. */
  constructor(values: ReadonlyMap<string, unknown>, refused: ReadonlyMap<string, string>) {
    const [uri = "", value] = values.entries().next().value ?? [];
    this.#values = values;
    this.#refused = refused;
    this.root = { value, uri, pointer: "" };
  }

  /** The value, or what it refers to. Throws DocumentFault for a reference that leads nowhere. */
  follow(at: Located): Located {
    let found = at;
    for (let hop = 0; ; hop++) {
      const reference = referenceIn(found.value);
      if (reference === undefined) return found;
      if (hop === MAX_HOPS) throw new DocumentFault("a reference that leads back to itself", at);
      found = this.#target(reference, found);
    }
  }

  /** Where one reference leads. */
  targetOf(at: Located): Located {
    return this.#target(referenceIn(at.value) ?? "", at);
  }

  #target(reference: string, from: Located): Located {
    const [address, fragment] = splitReference(reference);
    const uri = address === "" ? from.uri : addressOf(address, from.uri);
    if (uri === undefined || !this.#values.has(uri)) {
      const why = uri === undefined ? "it is no address" : (this.#refused.get(uri) ?? "it was not read");
      throw new DocumentFault(`"${reference.slice(0, 200)}" cannot be used: ${why}`, from);
    }
    const pointer = fragment.startsWith("/") || fragment === "" ? decoded(fragment) : undefined;
    const value = pointer === undefined ? undefined : valueAt(this.#values.get(uri), pointer);
    if (pointer === undefined || value === undefined)
      throw new DocumentFault(`the reference "${reference.slice(0, 200)}" leads nowhere`, from);
    return { value, uri, pointer };
  }
}

/** A member of an object or an array; undefined if it has none of that name. */
export function inside({ value, uri, pointer }: Located, key: string | number): Located | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const member = (value as Readonly<Record<string, unknown>>)[key];
  return { value: member, uri, pointer: `${pointer}/${escaped(String(key))}` };
}

export function membersOf(at: Located | undefined): readonly (readonly [string, Located])[] {
  if (!at || !isRecord(at.value)) return [];
  return Object.keys(at.value).map((key) => [key, inside(at, key) as Located]);
}

export function elementsOf(at: Located | undefined): readonly Located[] {
  if (!at || !Array.isArray(at.value)) return [];
  return at.value.map((_, index) => inside(at, index) as Located);
}

export function recordOf(at: Located | undefined): Json {
  return at && isRecord(at.value) ? at.value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function referenceIn(value: unknown): string | undefined {
  if (!isRecord(value) || !Object.hasOwn(value, "$ref")) return undefined;
  return typeof value["$ref"] === "string" ? value["$ref"] : undefined;
}

/** Identifies a place. */
export function keyOf({ uri, pointer }: Located): string {
  return `${uri}#${pointer}`;
}

export function splitReference(reference: string): readonly [address: string, fragment: string] {
  const at = reference.indexOf("#");
  return at < 0 ? [reference, ""] : [reference.slice(0, at), reference.slice(at + 1)];
}

/** The address of another document, without a fragment; undefined if it is no address. */
export function addressOf(reference: string, from: string): string | undefined {
  if (!URL.canParse(reference, from)) return undefined;
  const url = new URL(reference, from);
  url.hash = "";
  return url.href;
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
