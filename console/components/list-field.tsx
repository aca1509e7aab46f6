/**
 * A field for names separated by commas. It keeps the text as typed, including a comma or space at the end.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { TextField } from "./text-field.tsx";

export interface ListFieldProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly value: readonly string[];
  readonly error?: string | undefined;
  readonly disabled?: boolean;
  readonly onInput: (value: string[]) => void;
}

export function ListField({ label, hint, value, error, disabled = false, onInput }: ListFieldProps) {
  const text = useSignal(value.join(", "));
  const shown = namesIn(text.value).join() === value.join() ? text.value : value.join(", ");
  return (
    <TextField
      label={label}
      hint={hint}
      optional
      value={shown}
      error={error}
      disabled={disabled}
      onInput={(typed) => {
        text.value = typed;
        onInput(namesIn(typed));
      }}
    />
  );
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean);
}
