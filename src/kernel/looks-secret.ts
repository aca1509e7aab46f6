/**
 * Guesses whether something is a secret, by its name or its form. No other code guesses. In doubt the answer is yes, because a value
 * hidden by mistake does little harm. Known secrets are in secret.ts.
 */

const SECRET_WORDS: ReadonlySet<string> = new Set(
  (
    "token tokens secret secrets password passwords passwd passphrase pass pwd key keys apikey apikeys auth authorization " +
    "authentication credential credentials creds bearer cookie cookies session signature pin otp totp mfa jwt sas dsn nonce " +
    "pat private privatekey accesskey secretkey webhook ssn cvv cvc iban"
  ).split(" "),
);
/** Prefixes of tokens of well-known services, and other forms that are secrets in any context. */
const SECRET_FORMS = [
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|shpat|hf|dop|sq0|lin|figd)[-_][\w-]{8,}/i,
  /\bgithub_pat_\w{8,}/,
  /\b(?:AKIA|ASIA|AIza|ya29\.)[\w-]{8,}/,
  /\beyJ[\w-]{8,2000}\.[\w-]+/,
  /-----BEGIN [A-Z ]+-----/,
  /\b(?:bearer|basic|token)\s+[\w+/.=-]{8,}/i,
  /\/\/[^/\s:@]+:[^/\s@]+@/,
  /[?&;](?:[\w-]*(?:token|key|secret|sig|signature|password|auth|code))=[^&\s]{4,}/i,
  // The repetitions are limited, so that the time is linear in the length of the text.
  /(?:token|secret|passw(?:or)?d|passphrase|pwd|(?:api|private|access|secret)[-_]?key)\\{0,8}["']?\s{0,4}[=:]\s{0,4}\S{4}/i,
];
/** Endings of compound words such as `authtoken` and `dbpassword`. */
const SECRET_ENDING = /(?:token|secret|passw(?:or)?d|passphrase|apikey|credential)s?$/;
const PLAINLY_SECRET =
  /(?:passw(?:or)?d|passphrase|secret|token|(?:api|private|access|secret)[-_]?key|authorization|credential|cookie)s?$/i;
const CURSOR_NAME = /(?:page|next|continuation|sync|progress|cursor)[-_]?tokens?$/i;
const SHORTEST_RANDOM = 20;
/** Entropy in bits per character. Words and paths are below, keys are above. */
const RANDOM_BITS = 3.5;

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

/** Whether only secrets have such a name. Use it where a wrong guess would hide something people must see, such as the `key` of a ticket. */
export function isPlainlySecretName(name: string): boolean {
  return PLAINLY_SECRET.test(name) && !CURSOR_NAME.test(name);
}

/** Whether the text contains one of the known forms of secrets. */
export function hasSecretForm(text: string): boolean {
  return SECRET_FORMS.some((form) => form.test(text));
}

export function isSecretText(text: string): boolean {
  return hasSecretForm(text) || text.split(/[\s"'`,;(){}[\]<>|]+/).some(looksRandom);
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

function looksRandom(word: string): boolean {
  return word
    .split(/[/\\:@=&?#.]/)
    .some(
      (part) =>
        part.length >= SHORTEST_RANDOM &&
        /\d/.test(part) &&
        /[a-z]/i.test(part) &&
        bitsOf(part) >= RANDOM_BITS,
    );
}

function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
