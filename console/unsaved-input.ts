/**
 * Keeps typed input that is not saved yet. It survives a change of the shown tab or drawer and the end of a
 * login, but not a reload.
 */
import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

const inputs = new Map<string, Signal<unknown>>();

/** `key` names the form or field that the input belongs to. */
export function useUnsavedInput<T>(key: string, first: T): Signal<T> {
  return useMemo(() => {
    const found = inputs.get(key) ?? signal<unknown>(first);
    inputs.set(key, found);
    return found as Signal<T>;
  }, [key]);
}

/** Deletes all input, because another person uses this browser. */
export function clearUnsavedInput(): void {
  inputs.clear();
}
