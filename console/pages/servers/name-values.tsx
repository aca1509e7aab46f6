/**
 * Edits names and values: environment, headers. A stored value is never shown, and stays unless a new one is
 * typed.
 */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { FieldError } from "../../components/field-frame.tsx";
import { TextField } from "../../components/text-field.tsx";
import { serverTexts } from "../../texts/servers.ts";

const texts = serverTexts.form;
/** What the API returns for a stored value. */
const MASK = "********";

interface NameValuesProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly value: Readonly<Record<string, string>>;
  readonly onInput: (value: Readonly<Record<string, string>>) => void;
  readonly disabled: boolean;
  readonly error: string | undefined;
}

export function NameValues({ label, hint, value, onInput, disabled, error }: NameValuesProps) {
  const id = useId();
  // Rows are kept apart from the object, because while typing, a name may be empty or equal that of another
  // row.
  const [rows, setRows] = useState(() => Object.entries(value));
  const shown = JSON.stringify(named(rows)) === JSON.stringify(value) ? rows : Object.entries(value);
  const write = (next: [string, string][]) => {
    setRows(next);
    onInput(named(next));
  };
  const change = (at: number, row: [string, string]) =>
    write(shown.map((one, index) => (index === at ? row : one)));
  return (
    <fieldset class="name-values" disabled={disabled} aria-describedby={error ? `${id}-error` : undefined}>
      <legend class="field-label">{label}</legend>
      <div class="field-hint">{hint}</div>
      {error && <FieldError id={`${id}-error`} text={error} />}
      {shown.map(([name, text], at) => (
        <div key={at} class="name-value">
          <TextField
            label={texts.nameOf}
            labelHidden
            placeholder={texts.nameOf}
            mono
            value={name}
            onInput={(next) => change(at, [next, text])}
          />
          <TextField
            label={`${texts.valueOf} ${name}`}
            labelHidden
            placeholder={text === MASK ? texts.kept : texts.valueOf}
            mono
            value={text === MASK ? "" : text}
            onInput={(next) => change(at, [name, next])}
          />
          {!disabled && (
            <Button
              kind="quiet"
              label={texts.removeRow(name)}
              onClick={() => write(shown.filter((_, index) => index !== at))}
            >
              {texts.removeRow("")}
            </Button>
          )}
        </div>
      ))}
      {!disabled && shown.every(([name]) => name !== "") && (
        <Button size="small" onClick={() => write([...shown, ["", ""]])}>
          {texts.addRow}
        </Button>
      )}
    </fieldset>
  );
}

function named(rows: readonly [string, string][]): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.filter(([name]) => name !== ""));
}
