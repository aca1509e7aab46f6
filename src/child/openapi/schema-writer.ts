/**
 * Writes the schemas of one tool: with the references of its document as `$defs`, in the dialect of MCP, and
 * bounded in size for any document. What does not fit is left open, so that a valid value stays valid.
 */
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Documents,
  inside,
  type Json,
  keyOf,
  type Located,
  membersOf,
  recordOf,
  referenceIn,
  textOf,
} from "./documents.ts";
import { fileSchema } from "./file-argument.ts";
import { isFile, withExclusiveNumbers, withNull } from "./schema-dialect.ts";

export interface SchemaStyle {
  /**
   * `input`: without what only the server writes. `output`: only the types, because an answer that breaks a
   * rule of its document must not become an error. `exact`: as written.
   */
  readonly for: "input" | "output" | "exact";
  /** About as many characters as the schemas of the tool may have. */
  readonly maxLength: number;
  /** Binary values are files, as in a form. */
  readonly files?: boolean;
}

const MAX_DEPTH = 40;
const MAX_TEXT = { input: 1_000, output: 240, exact: 10_000 } as const;
const MAX_PATTERN = 500;
const MAX_DATA = 4_000;
const SCHEMAS: ReadonlySet<string> = new Set([
  "additionalProperties",
  "items",
  "not",
  "contains",
  "propertyNames",
  "if",
  "then",
  "else",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contentSchema",
]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Words of OpenAPI, and words that would make references mean something else. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ..."$schema $id $anchor $dynamicAnchor $dynamicRef $recursiveRef $comment $vocabulary $defs definitions".split(
    " ",
  ),
  ..."xml discriminator externalDocs example examples nullable readOnly writeOnly".split(" "),
]);
const OUTPUT_WORDS: ReadonlySet<string> = new Set(
  "type properties items anyOf oneOf allOf additionalProperties title description $ref".split(" "),
);

export class SchemaWriter {
  readonly #documents: Documents;
  readonly #style: SchemaStyle;
  #left: number;
  /** The place of the schema that is the root: a reference to it is `#`. */
  #root: string | undefined;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #waiting: [name: string, at: Located][] = [];

  constructor(documents: Documents, style: SchemaStyle) {
    this.#documents = documents;
    this.#style = style;
    this.#left = style.maxLength;
  }

  /** The schema as the root of the tool's schema, without its `$defs`. */
  root(at: Located): Json {
    const target = this.#documents.follow(at);
    this.#root = keyOf(target);
    const written = this.#write(target, 0);
    return isRecord(written) ? written : {};
  }

  /** A schema inside of the tool's schema. */
  part(at: Located): unknown {
    return this.#write(at, 1);
  }

  /** The `$defs` of everything that was written; empty without any. Call it last. */
  defs(): Json {
    const defs: [string, unknown][] = [];
    // One level after the other: if there is no room for all, the outer ones are complete.
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
      defs.push([next[0], this.#write(next[1], 1)]);
    return defs.length === 0 ? {} : { $defs: Object.fromEntries(defs) };
  }

  #write(at: Located, depth: number): unknown {
    const { value } = at;
    if (typeof value === "boolean") return value;
    if (!isRecord(value) || this.#left <= 0 || depth > MAX_DEPTH) return {};
    this.#left -= 8;
    const exact = this.#style.for === "exact";
    if (exact && typeof value["$id"] === "string") return value;
    if (referenceIn(value) !== undefined) return this.#reference(at);
    if (!exact && isFile(value) && (this.#style.files || value["type"] === "file")) return this.#file(value);
    const words = membersOf(at).flatMap(([word, inner]) => this.#word(word, inner, at, depth));
    const written = Object.fromEntries(words);
    if (exact) return written;
    return withNull(withExclusiveNumbers(written), value, this.#style.for === "output" && depth > 0);
  }

  #file({ description }: Json): Json {
    const schema = fileSchema(this.#text(description));
    this.#left -= JSON.stringify(schema).length;
    return schema;
  }

  #reference(at: Located): Json {
    const description = this.#text(recordOf(at)["description"]);
    const more = description === undefined ? {} : { description };
    let target: Located;
    try {
      target = this.#documents.targetOf(at);
    } catch {
      // A value that cannot be described may have any form. Operations themselves must be complete.
      return more;
    }
    const key = keyOf(target);
    if (key === this.#root) return { $ref: "#", ...more };
    let name = this.#names.get(key);
    if (name === undefined) {
      if (this.#left <= 0) return more;
      name = this.#freeName(target.pointer);
      this.#names.set(key, name);
      this.#waiting.push([name, target]);
    }
    this.#left -= name.length + 18;
    return { $ref: `#/$defs/${encoded(name)}`, ...more };
  }

  #freeName(pointer: string): string {
    const last = pointer
      .slice(pointer.lastIndexOf("/") + 1)
      .replaceAll("~1", "/")
      .replaceAll("~0", "~");
    const plain = this.#style.for === "exact" ? last : last.replace(/[^\w.-]/g, "_").slice(0, 60) || "schema";
    let name = plain;
    for (let n = 2; this.#taken.has(name); n++) name = `${plain}_${n}`;
    this.#taken.add(name);
    return name;
  }

  #word(word: string, at: Located, schema: Located, depth: number): [string, unknown][] {
    const { value } = at;
    const { for: use } = this.#style;
    if (use === "exact" ? word === "$defs" || word === "definitions" : this.#isLeftOut(word)) return [];
    this.#left -= word.length + 4;
    if (MAPS.has(word)) return [[word, this.#map(at, depth, word)]];
    if (LISTS.has(word) && Array.isArray(value)) return this.#list(word, at, depth);
    if (SCHEMAS.has(word)) {
      if (use === "output" && value === false) return [];
      return [[word, this.#write(at, depth + 1)]];
    }
    if (use === "exact") {
      this.#left -= JSON.stringify(value)?.length ?? 0;
      return [[word, value]];
    }
    if (word === "required") return [[word, this.#required(value, schema)]];
    if (word === "description" || word === "title") {
      const text = this.#text(value);
      return text === undefined ? [] : [[word, text]];
    }
    if (word === "pattern" && !isPattern(value)) return [];
    const length = JSON.stringify(value)?.length ?? 0;
    if (length > Math.min(MAX_DATA, this.#left)) return [];
    this.#left -= length;
    return [[word, value]];
  }

  #isLeftOut(word: string): boolean {
    if (this.#style.for === "output") return !OUTPUT_WORDS.has(word);
    return LEFT_OUT.has(word) || word.startsWith("x-");
  }

  #map(at: Located, depth: number, word: string): Json {
    const kept = membersOf(at).filter(([name, inner]) =>
      word === "patternProperties" ? isPattern(name) : word !== "properties" || this.#isSent(inner),
    );
    const written: [string, unknown][] = [];
    for (const [name, inner] of kept) {
      if (this.#left <= 0) break;
      this.#left -= name.length + 4;
      written.push([name, this.#write(inner, depth + 1)]);
    }
    return Object.fromEntries(written);
  }

  #list(word: string, at: Located, depth: number): [string, unknown][] {
    const parts: unknown[] = [];
    const schemas = at.value as readonly unknown[];
    for (let index = 0; index < schemas.length && this.#left > 0; index++)
      parts.push(this.#write(inside(at, index) as Located, depth + 1));
    // Fewer alternatives would refuse valid values.
    if (parts.length < schemas.length && word !== "allOf") return [];
    // Empty lists are no schemas, and a validator would refuse the whole one.
    if (parts.length === 0) return [];
    // An answer may fit several alternatives of a document that is not exact.
    return [[this.#style.for === "output" && word === "oneOf" ? "anyOf" : word, parts]];
  }

  #required(value: unknown, schema: Located): unknown {
    const names = Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
    const properties = inside(schema, "properties");
    return names.filter((name) => {
      const property = properties && inside(properties, name);
      return !property || this.#isSent(property);
    });
  }

  /** Whether a property is part of what is sent in this direction. */
  #isSent({ value }: Located): boolean {
    if (!isRecord(value) || this.#style.for === "exact") return true;
    return value[this.#style.for === "input" ? "readOnly" : "writeOnly"] !== true;
  }

  #text(value: unknown): string | undefined {
    const text = textOf(value);
    if (text === undefined) return undefined;
    const length = Math.min(text.length, MAX_TEXT[this.#style.for], Math.max(0, this.#left));
    if (length < 16 && length < text.length) return undefined;
    this.#left -= length;
    return length < text.length ? `${text.slice(0, length - 1)}…` : text;
  }
}

/** JSON Schema reads patterns as Unicode ones, which many documents are not: a validator refuses them all. */
function isPattern(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_PATTERN) return false;
  try {
    return new RegExp(value, "u").unicode;
  } catch {
    return false;
  }
}

function encoded(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}
