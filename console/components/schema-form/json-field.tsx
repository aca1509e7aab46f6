/** A place whose value is written as JSON: because the schema says little, or because what stands there does not fit it. */
import { componentTexts } from "../../texts/components.ts";
import { CodeField } from "../code-field.tsx";
import { indentJson } from "../json/indent-json.ts";
import { JsonText, writeDraft } from "./draft.ts";
import { errorAt, type FieldContext, standardOf } from "./field-props.ts";
import type { FormNode } from "./form-node.ts";
import { hintOf, plainField } from "./hint.tsx";

export interface JsonFieldProps extends FieldContext {
  readonly node: FormNode;
  readonly note?: string;
  readonly disabled?: boolean;
}

export function JsonField(props: JsonFieldProps) {
  const { node, draft, onInput, note } = props;
  const own = draft instanceof JsonText ? draft : undefined;
  const wrong = own && own.text.trim() !== "" && !own.valid ? componentTexts.form.problems.json : undefined;
  return (
    <CodeField
      {...plainField(props)}
      disabled={props.disabled ?? false}
      hint={
        <>
          {hintOf(props)} {note ?? (node.kind === "any" && componentTexts.form.jsonHint)}
        </>
      }
      error={errorAt(props) ?? wrong}
      rows={1}
      placeholder={standardOf(node) ?? ""}
      value={own ? own.text : indentJson(writeDraft(draft) ?? "")}
      onInput={(text) => onInput(text.trim() === "" ? undefined : new JsonText(text))}
    />
  );
}
