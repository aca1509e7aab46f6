/** Arguments for whoever decides about a call: exactly what would be sent, but for what is plainly a secret. */
import { isRecord } from "../../kernel/is-record.ts";
import { hasSecretForm, isPlainlySecretName } from "../../kernel/looks-secret.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { HIDDEN } from "../../kernel/secret.ts";

const LARGEST = 65_536;
/** Numbers that would lose digits when they are read. */
const LONG_NUMBER = /\d{16,}|\d[eE]/;

export function shownArguments(args: Raw): unknown {
  if (args.length > LARGEST) return { tooLarge: args.length };
  const written = args.toString();
  const masked = withoutSecrets(fromRaw(args));
  if (!LONG_NUMBER.test(written)) return masked;
  // As text; what holds a secret beside is shown without these digits rather than with the secret.
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
