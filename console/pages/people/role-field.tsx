/** The field of a role, with a description of the role as its hint. */
import type { Role } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { peopleTexts as texts } from "../../texts/people.ts";
import { shellTexts } from "../../texts/shell.ts";

const ROLES = ["member", "viewer", "editor", "admin"] as const satisfies readonly Role[];

interface RoleFieldProps {
  readonly value: Role;
  readonly onInput: (role: Role) => void;
  readonly error: string | undefined;
  readonly disabled?: boolean;
}

export function RoleField({ value, onInput, error, disabled = false }: RoleFieldProps) {
  return (
    <SelectField
      label={texts.form.role}
      hint={texts.roles[value]}
      value={value}
      options={ROLES.map((role) => ({ value: role, label: shellTexts.roles[role] }))}
      error={error}
      disabled={disabled}
      onInput={(role) => onInput(role as Role)}
    />
  );
}
