/** The field of a union: a list of variants, and the field of the chosen one. */
import { useState } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { SelectField } from "../select-field.tsx";
import { visibleText } from "../visible-text.ts";
import { labelOf, type NodeProps } from "./field-props.ts";
import { variantOf } from "./fits.ts";
import { plainField } from "./hint.tsx";
import { startDraft } from "./start-draft.ts";

const texts = componentTexts.form;

export function UnionField(props: NodeProps<"union">) {
  const { form, node, draft, onInput, required } = props;
  const [picked, pick] = useState<number | undefined>(required ? 0 : undefined);
  const schemaAt = (at: number | undefined) => (at === undefined ? undefined : node.variants[at]?.schema);
  // A value from the JSON view may match another variant than the one picked before.
  const at = draft === undefined ? picked : variantOf(node.variants, draft, { root: form.root, picked });
  const label = labelOf(props);
  return (
    <div class="form-union">
      <SelectField
        {...plainField(props)}
        none={texts.notSet}
        value={at === undefined ? "" : String(at)}
        options={node.variants.map((variant, index) => ({
          value: String(index),
          label: visibleText(variant.label).slice(0, 120),
        }))}
        onInput={(value) => {
          const next = value === "" ? undefined : Number(value);
          pick(next);
          onInput(next === undefined ? undefined : startDraft(schemaAt(next), form.root));
        }}
      />
      {at !== undefined && (
        <div class="form-variant">
          <form.Field {...props} name={label} bare required schema={schemaAt(at)} onRemove={undefined} />
        </div>
      )}
    </div>
  );
}
