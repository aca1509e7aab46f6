/**
 * What secrets look like. `secret-spans.ts` hides them in texts by which people decide, `redact` in what
 * calls carry. The two differ only in where a value ends: a person must see a command after a secret, and
 * `redact` must not leave the rest of one.
 */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Tokens of well-known services. */
export const TOKENS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|shpat|hf|dop|sq0|lin|figd|mmcp|whsec|glsa)[-_][\w-]{8,}/gi,
  /\bgithub_pat_\w{8,}/g,
  /\b(?:AKIA|ASIA|AIza|ya29\.)[\w-]{8,}/g,
];

/** The end of names of secrets: `DB_PASSWORD`, `clientSecret`. */
const NAME = "passw(?:or)?d|passphrase|pwd|secret|(?:api|private|access|secret)[-_]?key";
/** The separator between a name and its value. The text may contain JSON, also escaped inside a string. */
const SEPARATOR = String.raw`\\{0,8}["']?\s{0,4}[=:]\s{0,4}\\{0,8}["']?`;

/**
 * Matches a value after the name of a secret. `token` is what counts as such a name beside the usual ones.
 */
export function namedValue(value: string, token: string): RegExp {
  return new RegExp(`(?<=(?:${NAME}|${token})${SEPARATOR})${value}`, "gi");
}

/** Matches a value of a query whose name ends like that of a secret. */
export function queryValue(value: string, more = ""): RegExp {
  return new RegExp(
    String.raw`(?<=[?&;][\w-]{0,40}(?:token|key|secret|sig|signature|password|auth${more})=)${value}`,
    "gi",
  );
}

export function spansOf(text: string, pattern: RegExp): readonly Span[] {
  if (text.search(pattern) < 0) return [];
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({
    from: index,
    to: index + found.length,
  }));
}
