/**
 * The hint of a field: the description of the schema, folded if it is long, and the default if no placeholder
 * shows it.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";
import { defaultText, errorAt, type FieldContext, labelOf } from "./field-props.ts";
import type { FormNode } from "./form-node.ts";

type NodeContext = FieldContext & { readonly node: FormNode };

/** Props that all plain fields share: label, hint, required mark and error. */
export function plainField(props: NodeContext) {
  return {
    label: labelOf(props),
    labelMono: true,
    labelHidden: props.bare ?? false,
    required: props.required,
    hint: hintOf(props),
    error: errorAt(props),
  };
}

export function hintOf(props: NodeContext, withDefault = false): ComponentChildren {
  const { node } = props;
  const text = node.description ?? distinctTitle(props);
  const defaultValue = withDefault ? defaultText(node) : undefined;
  return text || defaultValue !== undefined ? <Hint text={text} defaultValue={defaultValue} /> : undefined;
}

/** Returns the title, except if it only repeats the name, as in many schemas. */
function distinctTitle({ node: { title = "" }, name, bare }: NodeContext): string {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return bare || plain(title) === plain(name) ? "" : title;
}

const PREVIEW_CHARS = 280;

function Hint({ text, defaultValue }: { readonly text: string; readonly defaultValue: string | undefined }) {
  const [open, setOpen] = useState(false);
  const long = text.length > PREVIEW_CHARS;
  return (
    <>
      <ForeignText text={long && !open ? `${text.slice(0, PREVIEW_CHARS)}…` : text} />
      {long && (
        <>
          {" "}
          <button type="button" class="form-more" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? componentTexts.json.fold : componentTexts.form.showAll}
          </button>
        </>
      )}
      {defaultValue !== undefined && (
        <>
          {text && " "}
          <ForeignText text={componentTexts.form.defaultIs(defaultValue.slice(0, PREVIEW_CHARS))} />
        </>
      )}
    </>
  );
}
