/** Props of the fields of a form generated from a schema. */
import type { ComponentType } from "preact";
import { visibleText } from "../visible-text.ts";
import type { FormProblem } from "./check-draft.ts";
import type { Draft } from "./draft.ts";
import type { FormNode } from "./form-node.ts";

/** Shared by all fields of one form. */
export interface Form {
  readonly root: unknown;
  readonly problems: readonly FormProblem[];
  /** The field for any schema. Fields with nested fields get it from here, which avoids an import cycle. */
  readonly Field: ComponentType<FieldContext & { readonly schema: unknown }>;
}

export interface FieldContext {
  readonly form: Form;
  readonly path: readonly string[];
  /** Name of the member in its object. */
  readonly name: string;
  readonly required: boolean;
  readonly draft: Draft;
  readonly onInput: (draft: Draft) => void;
  /** Shows no visible label, because the parent shows the name. */
  readonly bare?: boolean;
  /** Removes the value from its list or object. */
  readonly onRemove?: (() => void) | undefined;
}

export interface NodeProps<Kind extends FormNode["kind"]> extends FieldContext {
  readonly node: FormNode & { readonly kind: Kind };
}

/** Longer names are cut. The JSON view shows them completely. */
const MAX_NAME_CHARS = 200;

export function labelOf({ name, node }: { readonly name: string; readonly node: FormNode }): string {
  return visibleText(name || node.title || "").slice(0, MAX_NAME_CHARS);
}

export function errorAt({ form, path }: FieldContext): string | undefined {
  const own = form.problems.filter(
    (one) => one.path.length === path.length && one.path.every((part, at) => part === path[at]),
  );
  return own.length === 0 ? undefined : own.map(({ text }) => text).join(" ");
}

/** Returns the default value as text, for placeholders. */
export function defaultText({ defaultValue }: FormNode): string | undefined {
  if (defaultValue === undefined) return undefined;
  return typeof defaultValue === "string" ? defaultValue : JSON.stringify(defaultValue);
}
