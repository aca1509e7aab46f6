/** Which audit records a question is about. Pure. */
import { isRecord } from "../kernel/is-record.ts";
import type { ChainedRecord } from "./audit-chain.ts";
import type { AuditQuery } from "./store.ts";
import { toJson } from "./text.ts";

/** A record whose text lacks what is looked for is not parsed. */
export function matcherOf(query: AuditQuery): (record: ChainedRecord) => boolean {
  const { members = {}, from = -Infinity, to = Infinity, after = -1, cursor = Infinity } = query;
  const wanted = Object.entries(members).map(([path, text]) => ({
    path: path.split("."),
    text,
    within: within(text),
  }));
  return ({ seq, at, body }) => {
    if (seq <= after || seq >= cursor || at < from || at >= to) return false;
    if (!wanted.every((one) => body.includes(one.within))) return false;
    const value: unknown = wanted.length > 0 && JSON.parse(body);
    return wanted.every(({ path, text }) => isText(memberAt(value, path), text));
  };
}

/** A text as it stands within JSON, whether as one or as a number. */
export function within(text: string): string {
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
