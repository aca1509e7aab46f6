/** Edits the annotations with which a namespace overrides those of the server. */
import { SelectField } from "../../components/select-field.tsx";
import { toolsTexts } from "../../texts/tools.ts";

const texts = toolsTexts.override;
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

type Annotations = Readonly<Record<string, unknown>>;

interface AnnotationFieldsProps {
  readonly value: Annotations;
  readonly onInput: (value: Annotations) => void;
}

export function AnnotationFields({ value, onInput }: AnnotationFieldsProps) {
  const set = (hint: string, chosen: string) => {
    const { [hint]: _, ...rest } = value;
    onInput(chosen === "" ? rest : { ...rest, [hint]: chosen === "true" });
  };
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.annotations}</legend>
      <p class="field-hint">{texts.annotationsHint}</p>
      {HINTS.map((hint) => (
        <SelectField
          key={hint}
          label={texts.hints[hint]}
          none={texts.hint.unset}
          value={value[hint] === undefined ? "" : `${value[hint] === true}`}
          options={[
            { value: "true", label: texts.hint.true },
            { value: "false", label: texts.hint.false },
          ]}
          onInput={(chosen) => set(hint, chosen)}
        />
      ))}
    </fieldset>
  );
}
