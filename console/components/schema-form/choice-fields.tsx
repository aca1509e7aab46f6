/** One of some values, yes or no, and what cannot be chosen at all. */
import { componentTexts } from "../../texts/components.ts";
import { FieldFrame } from "../field-frame.tsx";
import { SelectField } from "../select-field.tsx";
import { SwitchField } from "../switch-field.tsx";
import { visibleText } from "../visible-text.ts";
import { draftOf, writeDraft } from "./draft.ts";
import { labelOf, type NodeProps, standardOf } from "./field-props.ts";
import { plainField } from "./hint.tsx";

const texts = componentTexts.form;
const LONGEST = 120;

export function ChoiceField(props: NodeProps<"choice">) {
  const { node, draft, onInput } = props;
  const at = node.choices.findIndex(({ value }) => JSON.stringify(value) === writeDraft(draft));
  const standard = standardOf(node);
  return (
    <SelectField
      {...plainField(props)}
      none={standard === undefined ? texts.notSet : texts.notSetWith(visibleText(standard))}
      value={at < 0 ? "" : String(at)}
      options={node.choices.map(({ label }, index) => ({
        value: String(index),
        label: visibleText(label).slice(0, LONGEST),
      }))}
      onInput={(index) => onInput(index === "" ? undefined : draftOf(node.choices[Number(index)]?.value))}
    />
  );
}

/** A switch where it must be given; else it may stay open. */
export function BooleanField(props: NodeProps<"boolean">) {
  const { node, draft, onInput, required } = props;
  const shared = plainField(props);
  if (required && typeof draft === "boolean")
    return <SwitchField {...shared} value={draft} onInput={onInput} />;
  const standard = standardOf(node);
  return (
    <SelectField
      {...shared}
      none={standard === undefined ? texts.notSet : texts.notSetWith(standard)}
      value={typeof draft === "boolean" ? String(draft) : ""}
      options={["true", "false"].map((value) => ({ value, label: value }))}
      onInput={(value) => onInput(value === "" ? undefined : value === "true")}
    />
  );
}

export function ConstField(props: NodeProps<"const">) {
  const { node, draft, onInput, required } = props;
  const written = visibleText(JSON.stringify(node.value)).slice(0, LONGEST);
  if (!required)
    return (
      <SwitchField
        {...plainField(props)}
        label={`${labelOf(props)}: ${written}`}
        value={draft !== undefined}
        onInput={(on) => onInput(on ? draftOf(node.value) : undefined)}
      />
    );
  return (
    <FieldFrame
      {...plainField(props)}
      control={({ required: _required, ...control }) => (
        <input {...control} class="input mono" type="text" readOnly value={written} />
      )}
    />
  );
}
