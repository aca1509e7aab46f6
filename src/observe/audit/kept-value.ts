/** What stays of arguments and results in the audit log, as JSON: nothing, names, or values with what looks secret masked or not. */
import type { KeptDetail } from "../../kernel/call.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { isSecretName, isSecretText } from "../../kernel/looks-secret.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { HIDDEN } from "../../kernel/secret.ts";
import { elements, entries, isArray, isObject, isString, members } from "../../rpc/slice.ts";

const LARGEST_VALUE = 16_384;
/** Results beyond it are not looked into for names: walking over them would cost more than the call. */
const LARGEST_SEARCHED = 65_536;
const MOST_NAMES = 64;
const LONGEST_NAME = 128;

export function keptArguments(given: Raw | undefined, kept: KeptDetail): string | undefined {
  if (!given || kept === "none") return undefined;
  return kept === "names" ? namesIn(given) : keptValue(given, kept);
}

/** Names in a result are those of its structured content, else the kinds of its content. */
export function keptResult(result: Raw | undefined, kept: KeptDetail): string | undefined {
  if (!result || kept === "none") return undefined;
  if (kept !== "names") return keptValue(result, kept);
  if (result.length > LARGEST_SEARCHED) return undefined;
  const [structured, content] = members(result, ["structuredContent", "content"]);
  if (structured && isObject(structured)) return namesIn(structured);
  if (!content || !isArray(content)) return undefined;
  const kinds = new Set(elements(content).flatMap(kindOf));
  return `[${[...kinds].slice(0, MOST_NAMES).join()}]`;
}

function kindOf(block: Raw): readonly string[] {
  const [type] = isObject(block) ? members(block, ["type"]) : [];
  return type && isString(type) && type.length <= LONGEST_NAME ? [type.toString()] : [];
}

function namesIn(object: Raw): string | undefined {
  if (!isObject(object)) return undefined;
  const names = entries(object).slice(0, MOST_NAMES);
  return JSON.stringify(names.map(([name]) => name.slice(0, LONGEST_NAME)));
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
