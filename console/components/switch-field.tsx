/** A switch that is on or off. It may take effect at once or with its form. */
import { useId } from "preact/hooks";
import { FieldError, FieldMark, type FieldProps, labelClass } from "./field-frame.tsx";
import { ForeignText } from "./foreign-text.tsx";

export interface SwitchFieldProps extends FieldProps {
  readonly value: boolean;
  readonly onInput: (value: boolean) => void;
}

export function SwitchField(props: SwitchFieldProps) {
  const id = useId();
  const { label, hint, error } = props;
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div class={`field field-switch${error ? " field-wrong" : ""}`}>
      <input
        id={id}
        class="switch"
        type="checkbox"
        role="switch"
        name={props.name}
        checked={props.value}
        aria-checked={props.value}
        disabled={props.disabled}
        autofocus={props.autofocus}
        aria-describedby={described || undefined}
        aria-invalid={error ? true : undefined}
        onChange={(event) => props.onInput(event.currentTarget.checked)}
      />
      <label for={id} class={labelClass(props, "switch-label")}>
        <ForeignText text={label} />
        <FieldMark required={props.required} optional={props.optional} />
      </label>
      {hint && (
        <div id={`${id}-hint`} class="field-hint">
          {hint}
        </div>
      )}
      {error && <FieldError id={`${id}-error`} text={error} />}
    </div>
  );
}
