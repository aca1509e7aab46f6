/**
 * The draft of a form whose object others may change at the same time. It sends only the edited fields, and
 * reports a conflict if somebody else changed one of them.
 */
import { mergePatch } from "./merge-patch.ts";
import { useUnsavedInput } from "./unsaved-input.ts";

interface Edit {
  readonly value: unknown;
  /** The value of the object when the edit began. */
  readonly from: unknown;
}

export interface Conflict {
  readonly field: string;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface DraftOf<T> {
  /** The current object with the edits applied. */
  readonly value: T;
  readonly set: (change: Partial<T>) => void;
  /** The body of the PATCH request, a JSON Merge Patch: null removes a field. */
  readonly patch: { readonly [K in keyof T]?: T[K] | null };
  readonly changed: boolean;
  /** The edited fields, as they are stored and as they would be. */
  readonly edits: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
  /** Fields that were edited here and changed by somebody else. */
  readonly conflicts: readonly Conflict[];
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly clear: () => void;
}

/** `key` identifies the object. */
export function useDraft<T extends object>(key: string, object: T): DraftOf<T> {
  const edits = useUnsavedInput<Readonly<Record<string, Edit>>>(key, {});
  const now = object as Readonly<Record<string, unknown>>;
  const entries = Object.entries(edits.value).filter(([name, { value }]) => !sameJson(value, now[name]));
  const conflicts = entries
    .filter(([name, { from }]) => !sameJson(from, now[name]))
    .map(([field, { value }]) => ({ field, theirs: now[field], mine: value }));
  const updateEdits = (change: (name: string, one: Edit) => Edit | undefined) => {
    const kept = entries.map(([name, one]) => [name, change(name, one)] as const);
    edits.value = Object.fromEntries(kept.filter((pair): pair is [string, Edit] => pair[1] !== undefined));
  };
  const value = { ...object, ...Object.fromEntries(entries.map(([name, one]) => [name, one.value])) };
  return {
    value,
    set(change) {
      const added = Object.entries(change).map(([name, next]) => {
        const from = edits.value[name] ? edits.value[name].from : now[name];
        return [name, { value: next, from }] as const;
      });
      edits.value = { ...edits.value, ...Object.fromEntries(added) };
    },
    patch: (mergePatch(now, value) ?? {}) as DraftOf<T>["patch"],
    changed: entries.length > 0,
    edits: entries.map(([field, one]) => ({ field, before: now[field], after: one.value })),
    conflicts,
    keepMine: () => updateEdits((name, one) => ({ ...one, from: now[name] })),
    takeTheirs: () =>
      updateEdits((name, one) => (conflicts.some(({ field }) => field === name) ? undefined : one)),
    clear() {
      edits.value = {};
    },
  };
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
