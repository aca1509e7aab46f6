/** Writes a value as text for a path, a query, a header or a cookie, in the styles of OpenAPI. Pure. */
import { isRecord } from "../../kernel/is-record.ts";
import type { Serialization, Style } from "./style.ts";

type Pair = readonly [name: string, value: string];

const SEPARATORS: Readonly<Partial<Record<Style, string>>> = {
  form: ",",
  spaceDelimited: "%20",
  pipeDelimited: "|",
  tabDelimited: "%09",
};
const MAX_DEPTH = 10;

/** One part of a path: `5`, `.5`, `;id=5`. */
export function pathText(name: string, value: unknown, how: Serialization): string {
  const { style, explode, content } = how;
  if (content !== undefined) return encoded(JSON.stringify(value));
  const items = parts(value, explode);
  if (style === "label") return `.${items.join(explode ? "." : ",")}`;
  if (style !== "matrix") return items.join(",");
  const key = encoded(name);
  if (!explode || !isList(value))
    return isRecord(value) && explode ? `;${items.join(";")}` : `;${key}=${items.join()}`;
  return items.map((item) => `;${key}=${item}`).join("");
}

/** Members of a query or of a form, encoded. */
export function queryPairs(name: string, value: unknown, how: Serialization): readonly Pair[] {
  const { style, explode, allowReserved, content } = how;
  const write = allowReserved ? lenient : encoded;
  const key = encoded(name);
  if (content !== undefined) return [[key, encoded(JSON.stringify(value))]];
  if (style === "deepObject" && typeof value === "object") return deep(key, value, write, 0);
  const separator = SEPARATORS[style] ?? ",";
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => [key, write(scalar(item))]);
    return [[key, value.map((item) => write(scalar(item))).join(separator)]];
  }
  if (!isRecord(value)) return [[key, write(scalar(value))]];
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  if (explode) return entries.map(([member, one]) => [encoded(member), write(scalar(one))]);
  return [[key, entries.flatMap(([member, one]) => [encoded(member), write(scalar(one))]).join(separator)]];
}

/** Not encoded: the caller refuses what a header cannot contain. */
export function headerText(value: unknown, { explode, content }: Serialization): string {
  if (content !== undefined) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(scalar).join(",");
  if (!isRecord(value)) return scalar(value);
  return Object.entries(value)
    .flatMap(([name, one]) => (explode ? [`${name}=${scalar(one)}`] : [name, scalar(one)]))
    .join(",");
}

/** Percent-encodes all that has a meaning in a URL. */
export function encoded(text: string): string {
  // Half of a character cannot be encoded.
  return encodeURIComponent(Buffer.from(text).toString()).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Leaves reserved characters as they are, but none that would begin another part of the URL or of the query.
 */
function lenient(text: string): string {
  return encoded(text).replaceAll(/%(?:2F|3A|3F|40|21|24|27|28|29|2A|2C|3B|5B|5D)/g, decodeURIComponent);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function parts(value: unknown, explode: boolean): readonly string[] {
  if (Array.isArray(value)) return value.map((item) => encoded(scalar(item)));
  if (!isRecord(value)) return [encoded(scalar(value))];
  return Object.entries(value).flatMap(([name, one]) =>
    explode ? [`${encoded(name)}=${encoded(scalar(one))}`] : [encoded(name), encoded(scalar(one))],
  );
}

/** `filter[owner][name]=x`, as most frameworks read it. */
function deep(key: string, value: unknown, write: (text: string) => string, depth: number): readonly Pair[] {
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH)
    return [[key, write(scalar(value))]];
  if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
    return value.map((item) => [`${key}[]`, write(scalar(item))]);
  return Object.entries(value).flatMap(([name, one]) =>
    deep(`${key}[${encoded(name)}]`, one, write, depth + 1),
  );
}

/** A value that is no list or object as text. */
export function scalar(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
