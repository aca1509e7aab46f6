/** Matches audit records against a query. Pure. */
import { isRecord } from "../kernel/is-record.ts";
import type { ChainedRecord } from "./audit-chain.ts";
import type { AuditQuery } from "./store.ts";
import { toJson } from "./text.ts";

/** Searches the text of a record first, so that most records that do not match are not parsed. */
export function matcherOf(query: AuditQuery): (record: ChainedRecord) => boolean {
  const {
    members = {},
    containing = {},
    from = -Infinity,
    to = Infinity,
    after = -1,
    cursor = Infinity,
  } = query;
  const conditions = Object.entries(members).map(([path, text]) => ({
    path: path.split("."),
    text,
    inJson: inJson(text),
  }));
  const parts = Object.entries(containing).map(([path, text]) => ({
    path: path.split("."),
    text: text.toLowerCase(),
  }));
  return ({ seq, at, body }) => {
    if (seq <= after || seq >= cursor || at < from || at >= to) return false;
    if (!conditions.every((one) => body.includes(one.inJson))) return false;
    const value: unknown = conditions.length + parts.length > 0 && JSON.parse(body);
    return (
      conditions.every(({ path, text }) => isText(memberAt(value, path), text)) &&
      parts.every(({ path, text }) => hasText(memberAt(value, path), text))
    );
  };
}

/** The text as it occurs in JSON, without quotes, so that it matches strings and numbers. */
export function inJson(text: string): string {
  return toJson(text).slice(1, -1);
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (part, name) => (isRecord(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    value,
  );
}

function isText(value: unknown, text: string): boolean {
  const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return plain && String(value) === text;
}

function hasText(value: unknown, text: string): boolean {
  return typeof value === "string" && value.toLowerCase().includes(text);
}
