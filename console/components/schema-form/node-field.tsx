/** Selects the field for a schema and its current value. */
import { componentTexts } from "../../texts/components.ts";
import { CodeField } from "../code-field.tsx";
import { indentJson } from "../json/indent-json.ts";
import { NumberField } from "../number-field.tsx";
import { ArrayField } from "./array-field.tsx";
import { BooleanField, ChoiceField, ConstField } from "./choice-fields.tsx";
import { JsonText, NumberText, writeDraft } from "./draft.ts";
import { defaultText, errorAt, type FieldContext, labelOf, type NodeProps } from "./field-props.ts";
import { FileField } from "./file-field.tsx";
import { fits } from "./fits.ts";
import { type FormNode, nodeOf } from "./form-node.ts";
import { FreeTextField } from "./free-text-field.tsx";
import { hintOf, plainField } from "./hint.tsx";
import { ObjectField } from "./object-field.tsx";
import { UnionField } from "./union-field.tsx";

export function NodeField({ schema, ...context }: FieldContext & { readonly schema: unknown }) {
  const node = nodeOf(schema, context.form.root);
  if (!fits(node, context.draft))
    return <JsonField {...context} node={node} note={componentTexts.form.unfit} />;
  return (
    <>
      {context.draft === null && node.kind !== "choice" && node.kind !== "any" ? (
        <JsonField {...context} node={node} disabled />
      ) : (
        <FieldOf {...context} node={node} />
      )}
      {node.nullable && <NullBox {...context} node={node} />}
    </>
  );
}

function FieldOf(props: FieldContext & { readonly node: FormNode }) {
  const { node, ...context } = props;
  switch (node.kind) {
    case "object":
      return <ObjectField {...context} node={node} />;
    case "array":
      return <ArrayField {...context} node={node} />;
    case "union":
      return <UnionField {...context} node={node} />;
    case "choice":
      return <ChoiceField {...context} node={node} />;
    case "const":
      return <ConstField {...context} node={node} />;
    case "boolean":
      return <BooleanField {...context} node={node} />;
    case "number":
      return <NumberTextField {...context} node={node} />;
    case "text":
      return <FreeTextField {...context} node={node} />;
    case "file":
      return <FileField {...context} node={node} />;
    case "null":
    case "any":
      return <JsonField {...context} node={node} />;
  }
}

function NumberTextField(props: NodeProps<"number">) {
  const { node, draft, onInput } = props;
  return (
    <NumberField
      {...plainField(props)}
      whole={node.whole}
      placeholder={defaultText(node) ?? ""}
      value={draft instanceof NumberText ? draft.text : ""}
      onInput={(text) => onInput(text.trim() === "" ? undefined : new NumberText(text.trim()))}
    />
  );
}

function NullBox(props: FieldContext & { readonly node: FormNode }) {
  const { draft, onInput } = props;
  return (
    <label class="form-null">
      <input
        type="checkbox"
        class="checkbox"
        checked={draft === null}
        aria-label={componentTexts.form.nullOf(labelOf(props))}
        onChange={(event) => onInput(event.currentTarget.checked ? null : undefined)}
      />
      {componentTexts.form.isNull}
    </label>
  );
}

/** A JSON field, for schemas that say too little and for values that do not match their schema. */
interface JsonFieldProps extends FieldContext {
  readonly node: FormNode;
  readonly note?: string;
  readonly disabled?: boolean;
}

function JsonField(props: JsonFieldProps) {
  const { node, draft, onInput, note } = props;
  const typed = draft instanceof JsonText ? draft : undefined;
  const syntaxError =
    typed && typed.text.trim() !== "" && !typed.valid ? componentTexts.form.problems.json : undefined;
  return (
    <CodeField
      {...plainField(props)}
      disabled={props.disabled ?? false}
      hint={
        <>
          {hintOf(props)} {note ?? (node.kind === "any" && componentTexts.form.jsonHint)}
        </>
      }
      error={errorAt(props) ?? syntaxError}
      rows={1}
      placeholder={defaultText(node) ?? ""}
      value={typed ? typed.text : indentJson(writeDraft(draft) ?? "")}
      onInput={(text) => onInput(text.trim() === "" ? undefined : new JsonText(text))}
    />
  );
}
