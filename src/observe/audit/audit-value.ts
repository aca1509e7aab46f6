/**
 * Converts arguments and results to JSON for the audit log: nothing, only names, or values with or without
 * masked secrets.
 */
import type { KeptDetail } from "../../kernel/call.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { shownValue } from "../../kernel/shown-value.ts";
import { repeatedKey } from "../../rpc/repeated-key.ts";
import { beginningAt, eachElement, eachMember, isKey, isObject, valueAt } from "../../rpc/slice.ts";
import { quoted, quotedAt } from "../quoted.ts";

const BRACE = 0x7b;
const BRACKET = 0x5b;
const QUOTE = 0x22;
const LARGEST_VALUE = 16_384;
const LARGEST_PARSED = 262_144;
const REDACTED = { most: LARGEST_VALUE, hide: "strict" } as const;
const FULL = { most: LARGEST_VALUE, hide: "nothing" } as const;
/** Larger results are not searched for names, because that would cost more than the call. */
const LARGEST_SEARCHED = 65_536;
const MAX_NAMES = 64;
const LONGEST_NAME = 128;

export function auditArguments(given: Raw | undefined, detail: KeptDetail): string | undefined {
  if (!given || detail === "none") return undefined;
  if (detail !== "names") return auditValue(given, detail);
  return isObject(given) ? namesAt(given, 0) : undefined;
}

/** The names of a result are the keys of its structured content, or else the types of its content. */
export function auditResult(result: Raw | undefined, detail: KeptDetail): string | undefined {
  if (!result || detail === "none") return undefined;
  if (detail !== "names") return auditValue(result, detail);
  if (result.length > LARGEST_SEARCHED) return undefined;
  let [structured, content] = [-1, -1];
  eachMember(result, (key, value) => {
    if (isKey(result, key, "content")) content = value;
    else if (isKey(result, key, "structuredContent")) structured = value;
  });
  if (structured >= 0 && result[structured] === BRACE) return namesAt(result, structured);
  return content >= 0 && result[content] === BRACKET ? kindsAt(result, content) : undefined;
}

/** Runs for every call, so it makes no slices of the raw text. */
function namesAt(raw: Raw, at: number): string {
  const names: string[] = [];
  eachMember(
    raw,
    (key) => {
      if (names.length < MAX_NAMES)
        names.push(quotedAt(raw, key) ?? quoted(beginningAt(raw, key, LONGEST_NAME)));
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
      if (kind !== undefined && kinds.length < MAX_NAMES && !kinds.includes(kind)) kinds.push(kind);
    },
    at,
  );
  return listOf(kinds);
}

/** Fast path for the common case of one element. */
function listOf(parts: readonly string[]): string {
  return `[${parts.length === 1 ? parts[0] : parts.join()}]`;
}

function kindAt(raw: Raw, at: number): string | undefined {
  const type = valueAt(raw, "type", at);
  return type >= 0 && raw[type] === QUOTE ? quotedAt(raw, type) : undefined;
}

/** Large values are shortened, so that one call cannot fill the log. */
function auditValue(written: Raw, detail: KeptDetail): string {
  if (written.length > LARGEST_PARSED) return JSON.stringify(endsOf(written, detail));
  // Parsers differ in which value of a repeated name they take, so the text is recorded.
  if (detail === "redacted")
    return JSON.stringify(
      shownValue(repeatedKey(written) === undefined ? written : toRaw(written.toString()), REDACTED),
    );
  if (written.length > LARGEST_VALUE) return JSON.stringify(shownValue(written, FULL));
  // Line breaks occur only between JSON tokens, because they are escaped in strings.
  return written.toString().replaceAll(/[\n\r]/g, " ");
}

/** Beginning and end of a value that is too large to be parsed for the log. */
function endsOf(written: Raw, detail: KeptDetail): object {
  const half = LARGEST_VALUE / 2;
  const ends = [written.subarray(0, half), written.subarray(-half)].map((part) => part.toString());
  const shown = shownValue(toRaw(ends), detail === "redacted" ? REDACTED : FULL);
  return { tooLarge: written.length, beginningAndEnd: shown };
}
