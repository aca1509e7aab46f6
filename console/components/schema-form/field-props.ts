/** What every field of a form made from a schema is given. */
import type { ComponentType } from "preact";
import { visibleText } from "../visible-text.ts";
import type { FormProblem } from "./check-draft.ts";
import type { Draft } from "./draft.ts";
import type { FormNode } from "./form-node.ts";

/** What is the same for all fields of one form. */
export interface Form {
  readonly root: unknown;
  readonly problems: readonly FormProblem[];
  /** The field for any place: what holds other fields gets it from here. */
  readonly Field: ComponentType<FieldContext & { readonly schema: unknown }>;
}

export interface FieldContext {
  readonly form: Form;
  readonly path: readonly string[];
  /** As the object around it calls it. */
  readonly name: string;
  readonly required: boolean;
  readonly draft: Draft;
  readonly onInput: (draft: Draft) => void;
  /** What stands around it names it already. */
  readonly bare?: boolean;
  /** Takes it out of the list or object around it. */
  readonly onRemove?: (() => void) | undefined;
}

export interface NodeProps<Kind extends FormNode["kind"]> extends FieldContext {
  readonly node: FormNode & { readonly kind: Kind };
}

/** Longer ones are cut: the raw JSON shows them whole. */
const LONGEST_NAME = 200;

export function labelOf({ name, node }: { readonly name: string; readonly node: FormNode }): string {
  return visibleText(name || node.title || "").slice(0, LONGEST_NAME);
}

export function errorAt({ form, path }: FieldContext): string | undefined {
  const here = form.problems.filter(
    (one) => one.path.length === path.length && one.path.every((part, at) => part === path[at]),
  );
  return here.length === 0 ? undefined : here.map(({ text }) => text).join(" ");
}

/** For a placeholder: what it is where nothing is given. */
export function standardOf({ standard }: FormNode): string | undefined {
  if (standard === undefined) return undefined;
  return typeof standard === "string" ? standard : JSON.stringify(standard);
}
