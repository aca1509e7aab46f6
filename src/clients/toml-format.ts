/**
 * Edits clients' TOML files. An entry must be a table with its subtables; an entry in another syntax is
 * refused.
 */
import { parse, TomlDate, TomlError } from "smol-toml";
import { ConfigError } from "../config/config-error.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { Format, FormatTarget } from "./format.ts";

export const tomlFormat: Format = {
  parse: async (target) => read(target),
  put: async (target, at, entry) => {
    const block = tableText(at, entry).join(eolOf(target.text));
    const span = spanOf(target.text, at);
    if (span) return target.text.slice(0, span[0]) + block + target.text.slice(span[1]);
    return appended(target.text, block);
  },
  drop: async ({ text }, at) => {
    const span = spanOf(text, at);
    return span ? text.slice(0, span[0]) + text.slice(span[1]) : text;
  },
};

function read({ path, text }: FormatTarget): Keys {
  try {
    return plain(parse(text, { integersAsBigInt: "asNeeded" })) as Keys;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [fault = "it is not valid TOML"] = error.message
      .replace(/^Invalid TOML document: /, "")
      .split("\n");
    throw new ConfigError(path, `${fault}; fix it first`, { line: error.line, column: error.column });
  }
}

/** The parser's objects have no prototype, so they would not equal ordinary objects. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isKeys(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Appends the table at the end, so that no existing key moves into another table. */
function appended(text: string, block: string): string {
  const eol = eolOf(text);
  if (text.trim() === "") return text + block + eol;
  const closed = text.endsWith("\n") ? text : text + eol;
  return `${closed}${/\n[ \t\r]*\n$/.test(closed) ? "" : eol}${block}${eol}`;
}

const KEY = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const HEADER = new RegExp(String.raw`^[ \t]*\[{1,2}[ \t]*(${KEY}(?:[ \t]*\.[ \t]*${KEY})*)[ \t]*\]`);

/**
 * From the table's header to the end of its last line. A header inside of a multi-line string is not
 * recognised here; format-of.ts then refuses the edit.
 */
function spanOf(text: string, at: readonly string[]): readonly [number, number] | undefined {
  let start: number | undefined;
  let end = 0;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const header = HEADER.exec(line)?.[1];
    const mine = header === undefined ? start !== undefined : isBelow(keysOf(header), at);
    if (header !== undefined && start !== undefined && !mine) break;
    if (mine) start ??= offset;
    const bare = line.replace(/\r?\n$/, "");
    // Blank lines and comments after the last value belong to the next table.
    if (mine && !/^\s*(?:#.*)?$/.test(bare)) end = offset + bare.length;
    offset += line.length;
  }
  return start === undefined ? undefined : [start, end];
}

function keysOf(header: string): readonly string[] {
  return [...header.matchAll(new RegExp(KEY, "g"))].map(([key]) =>
    /^["']/.test(key) ? key.slice(1, -1) : key,
  );
}

function isBelow(keys: readonly string[], at: readonly string[]): boolean {
  return at.every((key, index) => keys[index] === key);
}

function tableText(at: readonly string[], entry: Keys): readonly string[] {
  const lines = Object.entries(entry)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${keyText(key)} = ${valueText(value)}`);
  return [`[${at.map(keyText).join(".")}]`, ...lines];
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : valueText(key);
}

/** TOML accepts all JSON strings, except that U+007F must be escaped. */
function valueText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007F", "\\u007F");
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isKeys(value)) {
    const parts = Object.entries(value).map(([key, part]) => `${keyText(key)} = ${valueText(part)}`);
    return parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}";
  }
  return String(value);
}
