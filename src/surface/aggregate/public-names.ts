/**
 * Names of all tools in one list, as the aggregate surface and the OpenAPI view use them. Adds custom
 * prefixes to `names.ts`.
 */
import type { Named, Part as NamePart } from "./names.ts";
import { nameAll, VALID_NAME } from "./names.ts";

export interface PrefixedItems<T extends Named> {
  /** The name of the server that clients see. */
  readonly server: string;
  /** `server`, `none`, or a custom text. */
  readonly prefix: string;
  readonly items: readonly T[];
}

interface Wrapped<T> extends Named {
  readonly item: T;
}

/** Like `nameAll`, but a prefix may be any text. Names that clash get their server's name as the prefix. */
export function publicNames<T extends Named>(parts: readonly PrefixedItems<T>[]): ReadonlyMap<string, T> {
  if (parts.every(isPlain)) return nameAll(parts);
  const clashing = new Set<T>();
  for (;;) {
    const named = nameAll(parts.flatMap((part) => nameParts(part, clashing)));
    const before = clashing.size;
    for (const part of parts) if (part.prefix !== "server") addClashing(part, named, clashing);
    if (clashing.size === before) return new Map([...named].map(([name, { item }]) => [name, item]));
  }
}

const isPlain = <T extends Named>(part: PrefixedItems<T>): part is NamePart<T> =>
  part.prefix === "server" || part.prefix === "none";

/**
 * Treats a custom prefix as part of the item's own name. A clashing item is named like those with the prefix
 * `server`.
 */
function nameParts<T extends Named>(
  part: PrefixedItems<T>,
  clashing: ReadonlySet<T>,
): readonly NamePart<Wrapped<T>>[] {
  const { server, prefix, items } = part;
  const wrap = (item: T, name: string): Wrapped<T> => ({ server, name, item });
  if (prefix === "server") return [{ server, prefix, items: items.map((item) => wrap(item, item.name)) }];
  return items.map((item) => {
    if (clashing.has(item)) return { server, prefix: "server", items: [wrap(item, item.name)] };
    const wanted = wantedName(part, item);
    if (prefix === "none" || VALID_NAME.test(wanted))
      return { server, prefix: "none", items: [wrap(item, wanted)] };
    return { server, prefix: "server", items: [{ ...wrap(item, item.name), prefixText: prefix }] };
  });
}

function addClashing<T extends Named>(
  part: PrefixedItems<T>,
  named: ReadonlyMap<string, Wrapped<T>>,
  clashing: Set<T>,
): void {
  for (const item of part.items) {
    const wanted = wantedName(part, item);
    const altered = part.prefix !== "none" && !VALID_NAME.test(wanted);
    if (!altered && named.get(wanted)?.item !== item) clashing.add(item);
  }
}

function wantedName({ prefix }: { readonly prefix: string }, { name }: Named): string {
  return prefix === "none" ? name : `${prefix}__${name}`;
}
