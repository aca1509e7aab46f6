/** What somebody typed and has not saved: it outlives the tab and drawer it was typed in, and a login that ended. */
import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

const kept = new Map<string, Signal<unknown>>();

/** `key`: of what it is typed. */
export function useKept<T>(key: string, first: T): Signal<T> {
  return useMemo(() => {
    const found = kept.get(key) ?? signal<unknown>(first);
    kept.set(key, found);
    return found as Signal<T>;
  }, [key]);
}

/** Somebody else is at this browser. */
export function forgetTyped(): void {
  kept.clear();
}
