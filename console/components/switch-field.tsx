/** A switch that is on or off. It may take effect at once or with its form. */
import { FieldError, FieldHint, FieldLabel, type FieldProps, useControl } from "./field-frame.tsx";

export interface SwitchFieldProps extends FieldProps {
  readonly value: boolean;
  readonly onInput: (value: boolean) => void;
}

export function SwitchField(props: SwitchFieldProps) {
  // A switch that is off is a value too.
  const { required: _, ...control } = useControl(props);
  const { id } = control;
  const { hint, error } = props;
  return (
    <div class={`field field-switch${error ? " field-wrong" : ""}`}>
      <input
        {...control}
        class="switch"
        type="checkbox"
        role="switch"
        checked={props.value}
        aria-checked={props.value}
        onChange={(event) => props.onInput(event.currentTarget.checked)}
      />
      <FieldLabel id={id} field={props} shown="switch-label" />
      <FieldHint id={id} hint={hint} />
      {error && <FieldError id={`${id}-error`} text={error} />}
    </div>
  );
}
