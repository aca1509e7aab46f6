/**
 * Finds the secrets in a text, so that only they are hidden and the rest stays readable: whoever writes a
 * text could otherwise hide all of it behind one word that looks like a secret. Every pattern runs in time
 * linear in the text: repetitions are bounded or cannot overlap.
 */
import { namedValue, queryValue, type Span, spansOf, TOKENS } from "./secret-forms.ts";

/** Of a private key only what can be one is hidden: the caller could put a command between the marks. */
const KEY_BREAK = String.raw`(?:\s|\\{1,8}[nr])`;
const KEY_BLOCK = new RegExp(
  String.raw`-----BEGIN [A-Z ]{1,40}-----${KEY_BREAK}*(?:(?:Proc-Type|DEK-Info): [A-Z\d,-]{1,80}${KEY_BREAK}+){0,2}(?:[A-Za-z\d+/=]{16,}${KEY_BREAK}*){0,1000}(?:[A-Za-z\d+/=]{1,15}${KEY_BREAK}*(?=-----END ))?(?:-----END [A-Z ]{1,40}-----)?`,
  "g",
);

/**
 * Forms that are secrets in any context. A name or scheme before a secret stays visible. A value ends where a
 * shell would begin a command in it.
 */
const SECRET_FORMS: readonly RegExp[] = [
  ...TOKENS,
  /(?<![\w-])eyJ[\w-]{8,2000}\.[\w-]+(?:\.[\w-]+)?/g,
  KEY_BLOCK,
  /(?<=\b(?:bearer|basic|token)\s{1,4})[\w+/.=-]{8,}/gi,
  /(?<=\/\/[^/\s:@]{1,200}:)(?:(?!\$\()[^/\s@`|<>&;]){1,200}(?=[^/\s@]{0,200}@)/g,
  queryValue("(?:(?!\\$\\()[^&\\s\"'`|<>]){4,}", "|code"),
  namedValue("(?:(?!\\$\\()[^\\s\"',;\\\\`|<>&]){4,}", "token"),
];
const WORD = /[^\s"'`,;(){}[\]<>|/\\:@=&?#.]+/g;
const SHORTEST_RANDOM = 20;
/** Entropy in bits per character. Words and paths are below, keys are above. */
const RANDOM_BITS = 3.5;

export function hasSecretForm(text: string): boolean {
  return SECRET_FORMS.some((form) => text.search(form) >= 0);
}

export function hasRandomWord(text: string): boolean {
  return text.length >= SHORTEST_RANDOM && randomWords(text).length > 0;
}

/** The secrets in a text, in order. */
function secretSpans(text: string, random: boolean): readonly Span[] {
  const forms = SECRET_FORMS.flatMap((form) => spansOf(text, form));
  return merged(random ? [...forms, ...randomWords(text)] : forms);
}

/** Replaces each secret by the number of its characters, so that the reader knows how much is hidden. */
export function withHiddenSecrets(text: string, { random = false } = {}): string {
  return replaceSecrets(text, (secret) => hiddenText(secret.length), { random });
}

export function replaceSecrets(
  text: string,
  replace: (secret: string) => string,
  { random = false } = {},
): string {
  let shown = "";
  let at = 0;
  for (const { from, to } of secretSpans(text, random)) {
    shown += text.slice(at, from) + replace(text.slice(from, to));
    at = to;
  }
  return shown + text.slice(at);
}

export function hiddenText(characters: number): string {
  return `[secret, ${characters} characters hidden]`;
}

function merged(spans: readonly Span[]): readonly Span[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

function randomWords(text: string): readonly Span[] {
  return spansOf(text, WORD).filter(({ from, to }) => {
    if (to - from < SHORTEST_RANDOM) return false;
    const word = text.slice(from, to);
    return /\d/.test(word) && /[a-z]/i.test(word) && bitsOf(word) >= RANDOM_BITS;
  });
}

function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
