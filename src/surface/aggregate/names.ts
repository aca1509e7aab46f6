/**
 * Gives the tools and prompts of many servers unique names in one list. Pure. Names are looked up in the result; they
 * are never split into server and tool.
 */
import { createHash } from "node:crypto";
import type { ServerId } from "../../kernel/call.ts";

export interface Named {
  readonly server: ServerId;
  readonly name: string;
}

/** The items of one server. */
export interface Part<T extends Named> {
  readonly server: ServerId;
  readonly prefix: "server" | "none";
  readonly items: readonly T[];
}

/** The limit of model APIs. */
const LONGEST_NAME = 64;
const HASH_DIGITS = [8, 16, 24, 32, 40] as const;

/**
 * Returns the items by name, in the order of the parts. A prefixed name depends only on its server and tool, so it stays
 * the same when other servers are added or removed. An item without a unique name is left out.
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
  const begins = (text: string): boolean => name.startsWith(`${text}__`.slice(0, shortest));
  // If a custom prefix clashes, the server name is used as the prefix.
  return prefix === "none" || begins(sanitized(server)) || (prefix !== "server" && begins(prefix));
}

/** The items that keep their name without a prefix, because no other item has it. */
function bareNames<T extends Named>(parts: readonly Part<T>[]): ReadonlyMap<T, string> {
  const wanted = new Map<string, T[]>();
  const used = new Set<string>();
  const prefixed = (item: T): void => void used.add(plainName(item) ?? hashedName(item, HASH_DIGITS[0]));
  for (const { prefix, items } of parts) {
    for (const item of items) {
      if (prefix === "server") prefixed(item);
      else if (item.name.length <= LONGEST_NAME)
        wanted.set(item.name, [...(wanted.get(item.name) ?? []), item]);
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
function plainName({ server, name }: Named): string | undefined {
  const plain = `${server}__${name}`;
  return plain.length <= LONGEST_NAME && sanitized(server) === server ? plain : undefined;
}

function hashedName({ server, name }: Named, digits: number): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, name]))
    .digest("hex")
    .slice(0, digits);
  const head = `${sanitized(server)}__${name}`;
  const kept = LONGEST_NAME - 1 - digits;
  return head.length <= kept
    ? `${head}_${hash}`
    : `${head.slice(0, kept).replaceAll(/[^\w.-]/g, "_")}_${hash}`;
}

/**
 * The result contains no `__` and does not end with `_`, so the first `__` separates server and tool and names are
 * unambiguous.
 */
function sanitized(server: ServerId): string {
  return (
    server
      .replaceAll(/[^\w.-]/g, "_")
      .replaceAll(/_{2,}/g, "_")
      .replace(/_$/, "") || "server"
  );
}
