/**
 * The signs in the texts of one item: a tool, a prompt, a resource, or the instructions of a server. Pure,
 * deterministic, and linear in the length of the texts.
 */
import type { Raw } from "../../kernel/raw.ts";
import { visible } from "../../kernel/visible.ts";
import { encoded } from "./encoded.ts";
import { hiddenCharacters } from "./hidden-characters.ts";
import { hide } from "./hide.ts";
import { imitatedName } from "./imitated-name.ts";
import { otherTools } from "./other-tools.ts";
import { override } from "./override.ts";
import { askedByName, sendAway } from "./send-away.ts";
import type { Found, Sign, SignContext, SignText } from "./sign.ts";
import { MOST_CHARACTERS, textsOf } from "./texts.ts";
import { wordsOf } from "./words.ts";

/** Signs of one kind in one text; the first ones say enough. */
const MOST_PER_TEXT = 3;
const MOST_PER_ITEM = 20;
const AROUND = 40;
const LONGEST_EXCERPT = 200;
/** Soft signs of two of these kinds in one text are hard together. */
const ADD_UP: ReadonlySet<string> = new Set(["hide", "send-away", "override"]);

export function textSigns(definition: Raw, context: SignContext): readonly Sign[] {
  const { texts, whole } = textsOf(definition);
  const signs = texts.flatMap((text) => signsIn(text, context));
  const tooLong: Sign = {
    sign: "too-long",
    severity: "hard",
    path: "",
    start: MOST_CHARACTERS,
    end: MOST_CHARACTERS,
    excerpt: "",
  };
  // The hard ones first, so that many soft ones do not hide them.
  const sorted = signs.toSorted((a, b) => Number(b.severity === "hard") - Number(a.severity === "hard"));
  return [...(whole ? [] : [tooLong]), ...sorted].slice(0, MOST_PER_ITEM);
}

function signsIn(item: SignText, context: SignContext): readonly Sign[] {
  const { path, text } = item;
  return bounded(addedUp(foundIn(item, context))).map((found) => ({
    ...found,
    path,
    excerpt: excerptOf(text, found),
  }));
}

function foundIn({ path, text, name }: SignText, context: SignContext): readonly Found[] {
  const hidden = hiddenCharacters(text, name);
  if (name) {
    const ofTool = path === "name" ? imitatedName(text, context) : askedByName(text);
    return [...hidden, ...ofTool];
  }
  const words = wordsOf(text);
  return [
    ...hidden,
    ...encoded(text),
    ...hide(text, words),
    ...sendAway(text, words),
    ...override(text, words),
    ...otherTools(text, words, context),
  ];
}

function addedUp(found: readonly Found[]): readonly Found[] {
  const kinds = new Set(found.filter(({ sign }) => ADD_UP.has(sign)).map(({ sign }) => sign));
  if (kinds.size < 2) return found;
  return found.map((one) => (ADD_UP.has(one.sign) ? { ...one, severity: "hard" } : one));
}

/** One sign for places that overlap, and few of a kind. */
function bounded(found: readonly Found[]): readonly Found[] {
  const kept: Found[] = [];
  const order = found.toSorted(
    (a, b) => Number(b.severity === "hard") - Number(a.severity === "hard") || a.start - b.start,
  );
  const counts = new Map<string, number>();
  for (const one of order) {
    const count = counts.get(one.sign) ?? 0;
    const overlaps = kept.some(
      (other) => other.sign === one.sign && other.start < one.end && one.start < other.end,
    );
    if (count >= MOST_PER_TEXT || overlaps) continue;
    counts.set(one.sign, count + 1);
    kept.push(one);
  }
  return kept.toSorted((a, b) => a.start - b.start);
}

function excerptOf(text: string, { start, end }: Found): string {
  const [from, to] = [Math.max(0, start - AROUND), Math.min(text.length, end + AROUND)];
  const shown = visible(text.slice(from, to), LONGEST_EXCERPT);
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}
