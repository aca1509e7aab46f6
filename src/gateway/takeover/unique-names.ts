/** Gives each row a valid and unique name. The first row keeps its name, others get a suffix. */
import { nameKey } from "../names.ts";
import { isUuid } from "../uuid.ts";

interface Named {
  readonly uuid: string;
  readonly name: string;
}

const MOST = 128;

/** By uuid. Adds a line to `notes` for every changed name. */
export function uniqueNames(
  rows: readonly Named[],
  kind: string,
  notes: string[],
): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const row of rows) {
    const name = free(legal(row.name, kind), taken);
    taken.add(nameKey(name));
    names.set(row.uuid, name);
    if (name !== row.name) notes.push(`${kind} "${row.name}" (${row.uuid}) is now "${name}"`);
  }
  return names;
}

function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(nameKey(name))) return name;
  for (let n = 2; ; n += 1) {
    const suffix = `-${n}`;
    const other = `${name.slice(0, MOST - suffix.length)}${suffix}`;
    if (!taken.has(nameKey(other))) return other;
  }
}

function legal(name: string, kind: string): string {
  const cut = name.replaceAll(/[\p{Cc}\p{Cs}/:]/gu, "-").slice(0, MOST);
  if (cut.trim() === "") return kind;
  return isUuid(cut) ? `${kind}-${cut}` : cut;
}
