/** Fields for enums, booleans and constants. */
import { componentTexts } from "../../texts/components.ts";
import { FieldFrame } from "../field-frame.tsx";
import { SelectField } from "../select-field.tsx";
import { SwitchField } from "../switch-field.tsx";
import { visibleText } from "../visible-text.ts";
import { draftOf, writeDraft } from "./draft.ts";
import { defaultText, labelOf, type NodeProps } from "./field-props.ts";
import { plainField } from "./hint.tsx";

const texts = componentTexts.form;
const MAX_LABEL_CHARS = 120;

export function ChoiceField(props: NodeProps<"choice">) {
  const { node, draft, onInput } = props;
  const at = node.choices.findIndex(({ value }) => JSON.stringify(value) === writeDraft(draft));
  const defaultValue = defaultText(node);
  return (
    <SelectField
      {...plainField(props)}
      none={defaultValue === undefined ? texts.notSet : texts.notSetWith(visibleText(defaultValue))}
      value={at < 0 ? "" : String(at)}
      options={node.choices.map(({ label }, index) => ({
        value: String(index),
        label: visibleText(label).slice(0, MAX_LABEL_CHARS),
      }))}
      onInput={(index) => onInput(index === "" ? undefined : draftOf(node.choices[Number(index)]?.value))}
    />
  );
}

/** A switch if the value is required, else a list with the option "not set". */
export function BooleanField(props: NodeProps<"boolean">) {
  const { node, draft, onInput, required } = props;
  const shared = plainField(props);
  if (required && typeof draft === "boolean")
    return <SwitchField {...shared} value={draft} onInput={onInput} />;
  const defaultValue = defaultText(node);
  return (
    <SelectField
      {...shared}
      none={defaultValue === undefined ? texts.notSet : texts.notSetWith(defaultValue)}
      value={typeof draft === "boolean" ? String(draft) : ""}
      options={["true", "false"].map((value) => ({ value, label: value }))}
      onInput={(value) => onInput(value === "" ? undefined : value === "true")}
    />
  );
}

export function ConstField(props: NodeProps<"const">) {
  const { node, draft, onInput, required } = props;
  const constant = visibleText(JSON.stringify(node.value)).slice(0, MAX_LABEL_CHARS);
  if (!required)
    return (
      <SwitchField
        {...plainField(props)}
        label={`${labelOf(props)}: ${constant}`}
        value={draft !== undefined}
        onInput={(on) => onInput(on ? draftOf(node.value) : undefined)}
      />
    );
  return (
    <FieldFrame
      {...plainField(props)}
      control={({ required: _required, ...control }) => (
        <input {...control} class="input mono" type="text" readOnly value={constant} />
      )}
    />
  );
}
