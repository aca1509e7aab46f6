/** The arguments that approvers see: exactly those that would be sent, with plain secrets masked. */
import { isRecord } from "../../kernel/is-record.ts";
import { hasSecretForm, isPlainlySecretName } from "../../kernel/looks-secret.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { HIDDEN } from "../../kernel/secret.ts";

const LARGEST = 65_536;
/** Numbers that would lose digits when parsed. */
const LONG_NUMBER = /\d{16,}|\d[eE]/;

export function shownArguments(args: Raw): unknown {
  if (args.length > LARGEST) return { tooLarge: args.length };
  const written = args.toString();
  const masked = withoutSecrets(fromRaw(args));
  if (!LONG_NUMBER.test(written)) return masked;
  // Shown as text to keep all digits. If there is a secret, masking it is more important than the digits.
  return JSON.stringify(masked) === JSON.stringify(fromRaw(args)) ? written : masked;
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return hasSecretForm(value) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      typeof part === "string" && isPlainlySecretName(name) ? HIDDEN : withoutSecrets(part),
    ]),
  );
}
