/**
 * A field for JSON, YAML or code that grows with its content. Tab leaves the field, so that keyboard users
 * are not trapped.
 */
import { FieldFrame, type FieldProps } from "./field-frame.tsx";

export interface CodeFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly readOnly?: boolean;
}

export function CodeField(props: CodeFieldProps) {
  const { value, onInput, rows = 6 } = props;
  return (
    <FieldFrame
      {...props}
      control={(control) => (
        <textarea
          {...control}
          class="input code"
          rows={rows}
          style={{ "--rows": rows }}
          value={value}
          placeholder={props.placeholder}
          readOnly={props.readOnly}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          dir="ltr"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    />
  );
}
