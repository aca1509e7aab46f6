/** A drop-down list. */
import { FieldFrame, type FieldProps } from "./field-frame.tsx";

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

export interface SelectFieldProps extends FieldProps {
  readonly value: string;
  readonly options: readonly Option[];
  readonly onInput: (value: string) => void;
  /** Label of the empty option. Without it, one of the options is always selected. */
  readonly none?: string;
}

export function SelectField(props: SelectFieldProps) {
  const { value, options, onInput, none } = props;
  return (
    <FieldFrame
      {...props}
      control={(control) => (
        <select
          {...control}
          class="input select"
          value={value}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          {none !== undefined && <option value="">{none}</option>}
          {/* An address may name what does not exist. */}
          {value !== "" && !options.some((option) => option.value === value) && (
            <option value={value}>{value}</option>
          )}
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}
