/**
 * Detectors find secrets and personal data in texts. Every pattern here runs in time linear in the text:
 * repetitions are bounded or cannot overlap. Patterns of administrators run on a linear-time engine
 * (`custom-patterns.ts`).
 */
import { namedValue, queryValue, type Span, spansOf, TOKENS } from "../../../kernel/secret-forms.ts";

export interface Detector {
  readonly name: string;
  readonly find: (text: string) => readonly Span[];
  /** Shorter texts cannot contain a match. Most texts are short names of members. */
  readonly least?: number;
  /** Also applies to JSON numbers. */
  readonly numbers?: true;
}

/**
 * Letters may be followed by marks: systems write the same letter with an accent as one character or as two.
 */
const EMAIL =
  /[\p{L}\p{M}\d._%+-]{1,64}@(?:[\p{L}\p{M}\d-]{1,63}\.){1,8}(?:xn--[a-z\d-]{2,59}|\p{L}[\p{L}\p{M}]{1,23})/giu;
const PHONE = /(?<![\w+])(?:\+\d(?:[ ().-]{0,2}\d){7,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])/g;
const DIGITS = /(?<![\w.])\d(?:[ -]?\d){12,60}(?!\w)/g;
/** Only in the groups of cards: other numbers with dots are mostly fractions, versions and addresses. */
const DOTTED_DIGITS = /(?<![\w.])\d{4}\.(?:\d{4}\.\d{4}\.\d{1,7}|\d{6}\.\d{4,5})(?![\w]|\.\d)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,4})?\b/gi;
/** Not those for pagination (`page_token`). */
const TOKEN_NAME = "(?<!(?:page|next|continuation|sync|progress|cursor)[-_]?)token";
const SECRETS: readonly RegExp[] = [
  ...TOKENS,
  /-----BEGIN [A-Z ]{1,40}-----(?:(?!-----END )[\s\S]){0,20000}(?:-----END [A-Z ]{1,40}-----)?/g,
  /\b(?:bearer|basic)\s{1,4}[\w+/.=-]{8,4000}/gi,
  /(?<=\/\/)[^/\s:@]{1,200}:[^/\s]{1,200}(?=@)/g,
  /(?<=\bcookie\s{0,4}:\s{0,4})\S[^\r\n]{3,4000}/gi,
  queryValue(String.raw`[^&\s"']{4,2000}`),
  namedValue(String.raw`[^\s"',;\\]{4,2000}`, TOKEN_NAME),
];

const NONE: readonly Span[] = [];

export const DETECTORS: Readonly<Record<string, Detector>> = {
  secrets: { name: "secret", least: 6, find: secretsIn },
  email: { name: "email", least: 6, find: (text) => (text.includes("@") ? spansOf(text, EMAIL) : NONE) },
  phone: { name: "phone", least: 8, find: (text) => spansOf(text, PHONE) },
  card: {
    name: "card",
    numbers: true,
    least: 13,
    find: (text) =>
      [DIGITS, DOTTED_DIGITS].flatMap((digits) =>
        spansOf(text, digits).flatMap((span) => cardsIn(text, span)),
      ),
  },
  iban: {
    name: "iban",
    least: 15,
    find: (text) => spansOf(text, IBAN).flatMap((span) => ibanIn(text, span)),
  },
};

/** Every pattern needs one of these, and most texts contain none. */
const MAY_BE_SECRET = /[-_=:@.]|AKIA|ASIA|AIza|bearer|basic/i;

function secretsIn(text: string): readonly Span[] {
  if (text.search(MAY_BE_SECRET) < 0) return NONE;
  return [...SECRETS.flatMap((pattern) => spansOf(text, pattern)), ...tokensIn(text)];
}

/**
 * JWTs: two or three parts, the first begins with "eyJ". Not a pattern, because that would take quadratic
 * time.
 */
function tokensIn(text: string): readonly Span[] {
  if (!text.includes("eyJ")) return NONE;
  return spansOf(text, /[\w.-]+/g).flatMap(({ from, to }) => {
    const found: Span[] = [];
    for (let at = from; at < to; ) {
      const dot = text.indexOf(".", at);
      if (dot < 0 || dot >= to - 1) break;
      const begins = text.slice(at, dot).search(/\beyJ[\w-]{8}/);
      const parts = begins < 0 ? [] : text.slice(dot, to).split(".", 3);
      const end = dot + parts.join(".").length;
      if (end > dot + 1) found.push({ from: at + begins, to: end });
      at = Math.max(dot + 1, end + 1);
    }
    return found;
  });
}

/** Several numbers may follow each other. Each begins and ends at the border of a group of digits. */
function cardsIn(text: string, { from, to }: Span): readonly Span[] {
  const groups = spansOf(text.slice(from, to), /\d+/g);
  const found: Span[] = [];
  for (let first = 0; first < groups.length; first++) {
    let digits = "";
    for (let last = first; last < groups.length && digits.length <= 19; last++) {
      const [start, end] = [groups[first], groups[last]] as [Span, Span];
      digits += text.slice(from + end.from, from + end.to);
      if (!isCard(digits)) continue;
      found.push({ from: from + start.from, to: from + end.to });
      first = last;
      break;
    }
  }
  return found;
}

/** A following word may look like another group of the IBAN, so shorter spans are tried too. */
function ibanIn(text: string, { from, to }: Span): readonly Span[] {
  for (let end = to; end - from >= 15; end--) {
    const last = text[end] ?? " ";
    if (/[A-Z\d]/i.test(last) && end !== to) continue;
    if (isIban(text.slice(from, end).replaceAll(" ", ""))) return [{ from, to: end }];
  }
  return [];
}

/** 13 to 19 digits, a first digit that issuers use, and the Luhn checksum. */
function isCard(digits: string): boolean {
  if (digits.length < 13 || digits.length > 19 || !/^[2-6]/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the remainder by 97 is 1. */
function isIban(text: string): boolean {
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97;
  }
  return rest === 1;
}
