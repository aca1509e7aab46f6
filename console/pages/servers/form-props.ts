/** What the parts of the form of a server are given. */
import type { Draft } from "./draft.ts";

export interface ServerFormProps {
  readonly draft: Draft;
  readonly onInput: (draft: Draft) => void;
  /** What is wrong with a field, by its JSON Pointer. */
  readonly faultOf: (path: string) => string | undefined;
  readonly disabled?: boolean;
}

export function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
