/** Under which names the tools and prompts of many servers stand in one list. A pure function of what there is; names are looked up in its result, never split. */
import { createHash } from "node:crypto";
import type { ServerId } from "../../kernel/call.ts";

export interface Named {
  readonly server: ServerId;
  readonly name: string;
}

/** What one server brings in. */
export interface Part<T extends Named> {
  readonly server: ServerId;
  readonly prefix: "server" | "none";
  readonly items: readonly T[];
}

/** What model APIs take. */
const LONGEST = 64;
const HASH_DIGITS = [8, 16, 24, 32, 40] as const;

/**
 * In the order of the parts. A prefixed name depends on its own server and tool alone, so it stays when others come and go.
 * What cannot be given a name of its own is left out.
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
  // Plain names first: they are all different, and a hash can be made longer.
  for (const item of all) {
    const plain = bare.get(item) ?? plainName(item);
    if (plain !== undefined) take(item, plain);
  }
  for (const item of all) {
    for (const digits of HASH_DIGITS) if (!names.has(item)) take(item, hashedName(item, digits));
  }
  return new Map(all.flatMap((item) => (names.has(item) ? [[names.get(item) as string, item]] : [])));
}

/** Whether a name could be one of this server's, as far as can be told without knowing its tools. Yes in case of doubt. */
export function mayBeOf(server: ServerId, prefix: string, name: string): boolean {
  const shortest = LONGEST - 1 - (HASH_DIGITS.at(-1) as number);
  const begins = (text: string): boolean => name.startsWith(`${text}__`.slice(0, shortest));
  // Where its own prefix clashes, the name of the server stands there.
  return prefix === "none" || begins(alter(server)) || (prefix !== "server" && begins(prefix));
}

/** Those that stand without a prefix: nobody else has their name. */
function bareNames<T extends Named>(parts: readonly Part<T>[]): ReadonlyMap<T, string> {
  const wanted = new Map<string, T[]>();
  const used = new Set<string>();
  const prefixed = (item: T): void => void used.add(plainName(item) ?? hashedName(item, HASH_DIGITS[0]));
  for (const { prefix, items } of parts) {
    for (const item of items) {
      if (prefix === "server") prefixed(item);
      else if (item.name.length <= LONGEST) wanted.set(item.name, [...(wanted.get(item.name) ?? []), item]);
    }
  }
  // Whoever loses its name takes a prefixed one, which may in turn be what another is called.
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

/** Undefined where only a hash can make it a name of its own. */
function plainName({ server, name }: Named): string | undefined {
  const plain = `${server}__${name}`;
  return plain.length <= LONGEST && alter(server) === server ? plain : undefined;
}

function hashedName({ server, name }: Named, digits: number): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, name]))
    .digest("hex")
    .slice(0, digits);
  const head = `${alter(server)}__${name}`;
  const kept = LONGEST - 1 - digits;
  return head.length <= kept
    ? `${head}_${hash}`
    : `${head.slice(0, kept).replaceAll(/[^\w.-]/g, "_")}_${hash}`;
}

/** Without `__` and without `_` at its end a server's name is told from the tool's by the first `__`: no two pairs read the same. */
function alter(server: ServerId): string {
  return (
    server
      .replaceAll(/[^\w.-]/g, "_")
      .replaceAll(/_{2,}/g, "_")
      .replace(/_$/, "") || "server"
  );
}
