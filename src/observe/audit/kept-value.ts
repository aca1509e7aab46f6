/** What stays of arguments and results in the audit log, as JSON: nothing, names, or values with what looks secret masked or not. */
import type { KeptDetail } from "../../kernel/call.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { isSecretName, isSecretText } from "../../kernel/looks-secret.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { HIDDEN } from "../../kernel/secret.ts";
import { eachElement, eachMember, isKey, isObject, textAt, valueAt } from "../../rpc/slice.ts";
import { quoted, quotedAt } from "../quoted.ts";

const BRACE = 0x7b;
const BRACKET = 0x5b;
const QUOTE = 0x22;
const LARGEST_VALUE = 16_384;
/** Results beyond it are not looked into for names: walking over them would cost more than the call. */
const LARGEST_SEARCHED = 65_536;
const MOST_NAMES = 64;
const LONGEST_NAME = 128;

export function keptArguments(given: Raw | undefined, kept: KeptDetail): string | undefined {
  if (!given || kept === "none") return undefined;
  if (kept !== "names") return keptValue(given, kept);
  return isObject(given) ? namesAt(given, 0) : undefined;
}

/** Names in a result are those of its structured content, else the kinds of its content. */
export function keptResult(result: Raw | undefined, kept: KeptDetail): string | undefined {
  if (!result || kept === "none") return undefined;
  if (kept !== "names") return keptValue(result, kept);
  if (result.length > LARGEST_SEARCHED) return undefined;
  let [structured, content] = [-1, -1];
  eachMember(result, (key, value) => {
    if (isKey(result, key, "content")) content = value;
    else if (isKey(result, key, "structuredContent")) structured = value;
  });
  if (structured >= 0 && result[structured] === BRACE) return namesAt(result, structured);
  return content >= 0 && result[content] === BRACKET ? kindsAt(result, content) : undefined;
}

/** No part is cut out on the way: this runs for every call. */
function namesAt(raw: Raw, at: number): string {
  const names: string[] = [];
  eachMember(
    raw,
    (key) => {
      if (names.length < MOST_NAMES)
        names.push(quotedAt(raw, key) ?? quoted(textAt(raw, key).slice(0, LONGEST_NAME)));
    },
    at,
  );
  return listOf(names);
}

function kindsAt(raw: Raw, at: number): string {
  const kinds: string[] = [];
  eachElement(
    raw,
    (block) => {
      const kind = kindAt(raw, block);
      if (kind !== undefined && kinds.length < MOST_NAMES && !kinds.includes(kind)) kinds.push(kind);
    },
    at,
  );
  return listOf(kinds);
}

/** Most have one. */
function listOf(parts: readonly string[]): string {
  return `[${parts.length === 1 ? parts[0] : parts.join()}]`;
}

function kindAt(raw: Raw, at: number): string | undefined {
  const type = valueAt(raw, "type", at);
  return type >= 0 && raw[type] === QUOTE ? quotedAt(raw, type) : undefined;
}

/** One call must not fill the log. */
function keptValue(written: Raw, kept: KeptDetail): string {
  if (written.length > LARGEST_VALUE) return JSON.stringify({ tooLarge: written.length });
  // Line breaks stand between the parts of JSON alone: within texts they are escaped.
  return kept === "full"
    ? written.toString().replaceAll(/[\n\r]/g, " ")
    : JSON.stringify(masked(fromRaw(written)));
}

function masked(value: unknown): unknown {
  if (typeof value === "string") return isSecretText(value) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map(masked);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, isSecretName(name) ? HIDDEN : masked(part)]),
  );
}
