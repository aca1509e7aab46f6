/** The field for a new password. */
import { TextField } from "../components/text-field.tsx";
import { loginTexts } from "../texts/login.ts";
import type { Sending } from "../use-sending.ts";

interface NewPasswordProps {
  readonly value: string;
  readonly onInput: (password: string) => void;
  readonly sending: Sending;
  readonly label?: string;
  readonly hint?: string;
}

export function NewPassword({ value, onInput, sending, label, hint }: NewPasswordProps) {
  return (
    <TextField
      label={label ?? loginTexts.password.label}
      hint={hint ?? loginTexts.password.hint}
      type="password"
      name="password"
      autocomplete="new-password"
      required
      error={sending.faultOf("/password")}
      value={value}
      onInput={onInput}
    />
  );
}
