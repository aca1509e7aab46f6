/** A form over an object that others change too: only what was typed is sent, and what both changed is said before it is lost. */
import { useKept } from "./kept.ts";

interface Typed {
  readonly value: unknown;
  /** What stood there when it was typed over. */
  readonly from: unknown;
}

export interface Conflict {
  readonly field: string;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface DraftOf<T> {
  /** The object as it is, with what was typed over it. */
  readonly value: T;
  readonly set: (change: Partial<T>) => void;
  /** What is to be sent: null takes a field away. */
  readonly patch: { readonly [K in keyof T]?: T[K] | null };
  readonly changed: boolean;
  /** What was typed here and changed by somebody else. */
  readonly conflicts: readonly Conflict[];
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly clear: () => void;
}

/** `key` tells one object from all others. */
export function useDraft<T extends object>(key: string, object: T): DraftOf<T> {
  const typed = useKept<Readonly<Record<string, Typed>>>(key, {});
  const now = object as Readonly<Record<string, unknown>>;
  const entries = Object.entries(typed.value).filter(([name, { value }]) => !same(value, now[name]));
  const conflicts = entries
    .filter(([name, { from }]) => !same(from, now[name]))
    .map(([field, { value }]) => ({ field, theirs: now[field], mine: value }));
  const rest = (change: (name: string, one: Typed) => Typed | undefined) => {
    const kept = entries.map(([name, one]) => [name, change(name, one)] as const);
    typed.value = Object.fromEntries(kept.filter((pair): pair is [string, Typed] => pair[1] !== undefined));
  };
  return {
    value: { ...object, ...Object.fromEntries(entries.map(([name, { value }]) => [name, value])) },
    set(change) {
      const added = Object.entries(change).map(([name, value]) => {
        const from = typed.value[name] ? typed.value[name].from : now[name];
        return [name, { value, from }] as const;
      });
      typed.value = { ...typed.value, ...Object.fromEntries(added) };
    },
    patch: Object.fromEntries(
      entries.map(([name, { value }]) => [name, value ?? null]),
    ) as DraftOf<T>["patch"],
    changed: entries.length > 0,
    conflicts,
    keepMine: () => rest((name, one) => ({ ...one, from: now[name] })),
    takeTheirs: () => rest((name, one) => (conflicts.some(({ field }) => field === name) ? undefined : one)),
    clear() {
      typed.value = {};
    },
  };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
