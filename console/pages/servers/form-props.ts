/** Props of the fields of a server. */
import { type Draft, withField } from "./draft.ts";

export interface ServerFormProps {
  readonly draft: Draft;
  readonly onInput: (draft: Draft) => void;
  /** The gateway's error for a field, by its JSON Pointer. */
  readonly faultOf: (path: string) => string | undefined;
  readonly disabled?: boolean;
}

/** Returns functions that create the props of a field by its name: optional text, required text, number. An invalid number is sent as text. */
export function fieldsOf({ draft, onInput, faultOf, disabled = false }: ServerFormProps) {
  const set = (name: string, value: unknown) => onInput(withField(draft, name, value));
  const field = (name: string, onText: (text: string) => void) => ({
    disabled,
    error: faultOf(`/${name}`),
    value: textOf(draft[name]),
    onInput: onText,
  });
  return {
    set,
    text: (name: string) => ({ optional: true, ...field(name, (text) => set(name, text)) }),
    required: (name: string) => ({
      required: true,
      mono: true,
      ...field(name, (text) => onInput({ ...draft, [name]: text })),
    }),
    number: (name: string) => field(name, (text) => set(name, /^\d+$/.test(text) ? Number(text) : text)),
  };
}

export function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
