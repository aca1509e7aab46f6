/** What the schema says about a place: its description, opened where it is long, and its default where no placeholder shows it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";
import { errorAt, type FieldContext, labelOf, standardOf } from "./field-props.ts";
import type { FormNode } from "./form-node.ts";

type Place = FieldContext & { readonly node: FormNode };

/** Label, description, marks and problem, as all plain fields show them. */
export function plainField(props: Place) {
  return {
    label: labelOf(props),
    labelMono: true,
    labelHidden: props.bare ?? false,
    required: props.required,
    hint: hintOf(props),
    error: errorAt(props),
  };
}

export function hintOf(props: Place, withDefault = false): ComponentChildren {
  const { node } = props;
  const text = node.description ?? otherTitle(props);
  const standard = withDefault ? standardOf(node) : undefined;
  return text || standard !== undefined ? <Hint text={text} standard={standard} /> : undefined;
}

/** Many schemas have titles that only repeat the name. */
function otherTitle({ node: { title = "" }, name, bare }: Place): string {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return bare || plain(title) === plain(name) ? "" : title;
}

const SHORT = 280;

function Hint({ text, standard }: { readonly text: string; readonly standard: string | undefined }) {
  const [open, setOpen] = useState(false);
  const long = text.length > SHORT;
  return (
    <>
      <ForeignText text={long && !open ? `${text.slice(0, SHORT)}…` : text} />
      {long && (
        <>
          {" "}
          <button type="button" class="form-more" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? componentTexts.json.fold : componentTexts.form.showAll}
          </button>
        </>
      )}
      {standard !== undefined && (
        <>
          {text && " "}
          <ForeignText text={componentTexts.form.defaultIs(standard.slice(0, SHORT))} />
        </>
      )}
    </>
  );
}
