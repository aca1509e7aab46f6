/**
 * Gives the tools and prompts of many servers unique names in one list. Pure. Names are looked up in the
 * result; they are never split into server and tool.
 */
import { createHash } from "node:crypto";
import type { ServerId } from "../../kernel/call.ts";

export interface Named {
  readonly server: ServerId;
  readonly name: string;
  /** Used instead of the server's name as the prefix. */
  readonly prefixText?: string;
}

/** The items of one server. */
export interface Part<T extends Named> {
  readonly server: ServerId;
  readonly prefix: "server" | "none";
  readonly items: readonly T[];
}

/** The limits of model APIs. */
const LONGEST_NAME = 64;
export const VALID_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const INVALID = /[^A-Za-z0-9_-]/gu;
const HASH_DIGITS = [8, 16, 24, 32, 40] as const;

/**
 * Returns the items by name, in the order of the parts. A prefixed name depends only on its server and tool,
 * so it stays the same when other servers are added or removed. An item without a unique name is left out.
 */
export function nameAll<T extends Named>(parts: readonly Part<T>[]): ReadonlyMap<string, T> {
  const bare = bareNames(parts);
  const all = parts.flatMap(({ items }) => items);
  const names = new Map<T, string>();
  const taken = new Set<string>();
  const take = (item: T, name: string): void => {
    if (taken.has(name)) return;
    names.set(item, name);
    taken.add(name);
  };
  // Plain names come first: they are all different, and a hashed name can avoid them with more digits.
  for (const item of all) {
    const plain = bare.get(item) ?? plainName(item);
    if (plain !== undefined) take(item, plain);
  }
  for (const item of all) {
    for (const digits of HASH_DIGITS) if (!names.has(item)) take(item, hashedName(item, digits));
  }
  return new Map(all.flatMap((item) => (names.has(item) ? [[names.get(item) as string, item]] : [])));
}

/** Whether a name may belong to this server, without knowing its tools. True in case of doubt. */
export function mayBelongTo(server: ServerId, prefix: string, name: string): boolean {
  const shortest = LONGEST_NAME - 1 - (HASH_DIGITS.at(-1) as number);
  return (
    prefix === "none" || beginnings(server, prefix).some((text) => name.startsWith(text.slice(0, shortest)))
  );
}

/** The name that the server probably has for its tool. Only for records. */
export function withoutPrefix(server: ServerId, prefix: string, name: string): string {
  const found = beginnings(server, prefix).find((text) => name.startsWith(text));
  return found === undefined ? name : name.slice(found.length);
}

function beginnings(server: ServerId, prefix: string): readonly string[] {
  // If a custom prefix clashes, the server name is used as the prefix.
  const custom = prefix === "server" || prefix === "none" ? [] : [prefix, sanitized(prefix)];
  return [sanitized(server), ...custom].map((text) => `${text}__`);
}

/** The items that keep their name without a prefix, because it is valid and no other item has it. */
function bareNames<T extends Named>(parts: readonly Part<T>[]): ReadonlyMap<T, string> {
  const wanted = new Map<string, T[]>();
  const used = new Set<string>();
  const prefixed = (item: T): void => void used.add(plainName(item) ?? hashedName(item, HASH_DIGITS[0]));
  for (const { prefix, items } of parts) {
    for (const item of items) {
      if (prefix === "server") prefixed(item);
      else if (VALID_NAME.test(item.name)) wanted.set(item.name, [...(wanted.get(item.name) ?? []), item]);
    }
  }
  // An item that loses its bare name gets a prefixed one, which may equal the bare name of another item.
  for (let before = -1; before !== used.size; ) {
    before = used.size;
    for (const [name, items] of wanted) {
      if (items.length === 1 && !used.has(name)) continue;
      wanted.delete(name);
      for (const item of items) prefixed(item);
    }
  }
  return new Map([...wanted].flatMap(([name, [item]]) => (item ? [[item, name]] : [])));
}

/** Returns undefined if the name needs a hash to be valid and unique. */
function plainName({ server, name, prefixText = server }: Named): string | undefined {
  const plain = `${prefixText}__${name}`;
  return VALID_NAME.test(plain) && sanitized(prefixText) === prefixText ? plain : undefined;
}

function hashedName({ server, name, prefixText = server }: Named, digits: number): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, name]))
    .digest("hex")
    .slice(0, digits);
  const head = `${sanitized(prefixText)}__${name.replaceAll(INVALID, "_")}`;
  return `${head.slice(0, LONGEST_NAME - 1 - digits)}_${hash}`;
}

/**
 * The result contains no `__` and does not end with `_`, so the first `__` separates server and tool and
 * names are unambiguous.
 */
function sanitized(server: ServerId): string {
  return server.replaceAll(INVALID, "_").replaceAll(/_{2,}/g, "_").replace(/_$/, "") || "server";
}
