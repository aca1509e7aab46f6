/** A number field with a text value, so that the number is sent as typed: `0.10`, or one of twenty digits. */
import { FieldFrame, type FieldProps } from "./field-frame.tsx";

export interface NumberFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly whole?: boolean;
  /** Shown after the number: `ms`, `per minute`. */
  readonly unit?: string;
  readonly placeholder?: string;
}

export function NumberField(props: NumberFieldProps) {
  const { value, onInput, unit } = props;
  return (
    <FieldFrame
      {...props}
      control={(control) => (
        <span class="input-with-unit">
          <input
            {...control}
            class="input number"
            type="text"
            inputMode={props.whole ? "numeric" : "decimal"}
            autocomplete="off"
            value={value}
            placeholder={props.placeholder}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {unit && <span class="input-unit">{unit}</span>}
        </span>
      )}
    />
  );
}
