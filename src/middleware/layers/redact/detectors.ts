/**
 * What is looked for in texts, and where it stands. Every pattern of ours takes time in proportion to the text: repetitions
 * are bounded or cannot overlap. Patterns of others run on an engine that cannot do otherwise.
 */
import { isCard, isIban } from "./checksums.ts";

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Detector {
  readonly name: string;
  readonly find: (text: string) => readonly Span[];
  /** In a shorter text there is none: most texts are names of members. */
  readonly least?: number;
  /** Also in numbers, which cannot hold letters. */
  readonly numbers?: true;
}

const EMAIL = /[\p{L}\d._%+-]{1,64}@(?:[\p{L}\d-]{1,63}\.){1,8}(?:xn--[a-z\d-]{2,59}|\p{L}{2,24})/giu;
const PHONE = /(?<![\w+])(?:\+\d(?:[ ().-]{0,2}\d){7,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])/g;
const DIGITS = /(?<![\w.])\d(?:[ -]?\d){12,60}(?!\w)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,4})?\b/gi;
/** What a name ends with, in whichever way it is written: `DB_PASSWORD`, `clientSecret`. A place in a list is none. */
const SECRET_NAME =
  "(?:passw(?:or)?d|passphrase|pwd|secret|(?:api|private|access|secret)[-_]?key|(?<!(?:page|next|continuation|sync|progress|cursor)[-_]?)token)";
/** Between a name and its value, in a text that holds JSON too, which may itself stand in a text. */
const NAMED = `\\\\{0,8}["']?\\s{0,4}[=:]\\s{0,4}\\\\{0,8}["']?`;
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|shpat|hf|dop|sq0|lin|figd|mmcp|whsec|glsa)[-_][\w-]{8,500}/gi,
  /\bgithub_pat_\w{8,500}/g,
  /\b(?:AKIA|ASIA|AIza|ya29\.)[\w-]{8,500}/g,
  /-----BEGIN [A-Z ]{1,40}-----(?:(?!-----END )[\s\S]){0,20000}(?:-----END [A-Z ]{1,40}-----)?/g,
  /\b(?:bearer|basic)\s{1,4}[\w+/.=-]{8,4000}/gi,
  /(?<=\/\/)[^/\s:@]{1,200}:[^/\s]{1,200}(?=@)/g,
  /(?<=\bcookie\s{0,4}:\s{0,4})\S[^\r\n]{3,4000}/gi,
  /(?<=[?&;][\w-]{0,40}(?:token|key|secret|sig|signature|password|auth)=)[^&\s"']{4,2000}/gi,
  new RegExp(`(?<=${SECRET_NAME}${NAMED})[^\\s"',;\\\\]{4,2000}`, "gi"),
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
    find: (text) => spansOf(text, DIGITS).flatMap((span) => cardsIn(text, span)),
  },
  iban: {
    name: "iban",
    least: 15,
    find: (text) => spansOf(text, IBAN).flatMap((span) => ibanIn(text, span)),
  },
};

/** What each of the patterns needs: most texts have none of it. */
const MAY_BE_SECRET = /[-_=:@.]|AKIA|ASIA|AIza|bearer|basic/i;

function secretsIn(text: string): readonly Span[] {
  if (text.search(MAY_BE_SECRET) < 0) return NONE;
  return [...SECRETS.flatMap((pattern) => spansOf(text, pattern)), ...tokensIn(text)];
}

/** JWTs: two or three parts, the first of which begins with "eyJ". By hand: a pattern would look for each end from each beginning. */
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

function spansOf(text: string, pattern: RegExp): readonly Span[] {
  if (text.search(pattern) < 0) return NONE;
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
    from: index,
    to: index + found.length,
  }));
}

/** Several may stand in a row: each begins and ends where a group of digits does. */
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

/** A word behind it may look like one more group of it. */
function ibanIn(text: string, { from, to }: Span): readonly Span[] {
  for (let end = to; end - from >= 15; end--) {
    const last = text[end] ?? " ";
    if (/[A-Z\d]/i.test(last) && end !== to) continue;
    if (isIban(text.slice(from, end).replaceAll(" ", ""))) return [{ from, to: end }];
  }
  return [];
}
