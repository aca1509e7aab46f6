/** A JSON field, for schemas that say too little and for values that do not match their schema. */
import { componentTexts } from "../../texts/components.ts";
import { CodeField } from "../code-field.tsx";
import { indentJson } from "../json/indent-json.ts";
import { JsonText, writeDraft } from "./draft.ts";
import { defaultText, errorAt, type FieldContext } from "./field-props.ts";
import type { FormNode } from "./form-node.ts";
import { hintOf, plainField } from "./hint.tsx";

export interface JsonFieldProps extends FieldContext {
  readonly node: FormNode;
  readonly note?: string;
  readonly disabled?: boolean;
}

export function JsonField(props: JsonFieldProps) {
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
