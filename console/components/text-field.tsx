/** One line of text, or several with `rows`. */
import { FieldFrame, type FieldProps } from "./field-frame.tsx";

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "search" | "password" | "email" | "url" | "date" | "datetime-local" | "time";
  readonly placeholder?: string;
  readonly rows?: number;
  /** Monospaced, for ids, names and addresses. */
  readonly mono?: boolean;
  readonly autocomplete?: string;
  readonly spellcheck?: boolean;
  readonly suggestions?: readonly string[];
  readonly onEnter?: () => void;
}

export function TextField(props: TextFieldProps) {
  const { value, onInput, type = "text", rows, mono, suggestions } = props;
  const shared = {
    class: `input${mono ? " mono" : ""}`,
    value,
    placeholder: props.placeholder,
    spellcheck: props.spellcheck ?? !mono,
    dir: "auto",
  } as const;
  return (
    <FieldFrame
      {...props}
      control={(control) =>
        rows ? (
          <textarea
            {...control}
            {...shared}
            rows={rows}
            style={{ "--rows": rows }}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <>
            <input
              {...control}
              {...shared}
              type={type as "text"}
              autocomplete={props.autocomplete ?? "off"}
              list={suggestions && `${control.id}-list`}
              onInput={(event) => onInput(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter") props.onEnter?.();
              }}
            />
            {suggestions && (
              <datalist id={`${control.id}-list`}>
                {suggestions.map((text) => (
                  <option key={text} value={text} />
                ))}
              </datalist>
            )}
          </>
        )
      }
    />
  );
}
