/**
 * Guesses whether something is a secret, by its name or its form. In doubt the answer is yes, because a value
 * that is not stored or shown by mistake does little harm. Where people must see the rest of a text,
 * secret-spans.ts finds the secrets in it. Known secrets are in secret.ts.
 */
import { hasRandomWord, hasSecretForm } from "./secret-spans.ts";

const SECRET_WORDS: ReadonlySet<string> = new Set(
  (
    "token tokens secret secrets password passwords passwd passphrase pass pwd key keys apikey apikeys auth authorization " +
    "authentication credential credentials creds bearer cookie cookies session signature pin otp totp mfa jwt sas dsn nonce " +
    "pat private privatekey accesskey secretkey webhook ssn cvv cvc iban"
  ).split(" "),
);
/** Endings of compound words such as `authtoken` and `dbpassword`. */
const SECRET_ENDING = /(?:token|secret|passw(?:or)?d|passphrase|apikey|credential)s?$/;
const PLAINLY_SECRET =
  /(?:passw(?:or)?d|passphrase|secret|token|(?:api|private|access|secret)[-_]?key|authorization|credential|cookie)s?$/i;
const CURSOR_NAME = /(?:page|next|continuation|sync|progress|cursor)[-_]?tokens?$/i;

/** Whether a word of the name, as in `apiKey`, `API_KEY` or `x-api-key`, means a secret. */
export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return (
    words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDING.test(word)) ||
    SECRET_WORDS.has(words.join(""))
  );
}

/**
 * Whether only secrets have such a name. Use it where a wrong guess would hide something people must see,
 * such as the `key` of a ticket.
 */
export function isPlainlySecretName(name: string): boolean {
  return PLAINLY_SECRET.test(name) && !CURSOR_NAME.test(name);
}

export function isSecretText(text: string): boolean {
  return hasSecretForm(text) || hasRandomWord(text);
}

/** Whether a name or a text anywhere in the value looks like a secret. */
export function containsSecret(value: unknown): boolean {
  if (typeof value === "string") return isSecretText(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(containsSecret);
  return Object.entries(value).some(
    ([name, part]) => isSecretName(name) || isSecretText(name) || containsSecret(part),
  );
}
