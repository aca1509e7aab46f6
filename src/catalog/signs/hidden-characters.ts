/** Characters that people do not see, or that change how they see the others. */
import type { Found, SignSeverity } from "./sign.ts";

/** Anything that could be of interest. Most texts have none. */
const SUSPECT = /(?:(?![\t\n\r])\p{Cc}|\p{Default_Ignorable_Code_Point}|\u2800)+/gu;

const TAG = /[\u{e0000}-\u{e007f}]/u;
/** The flag of a region ends with a mark and follows a black flag. */
const REGION_TAGS = /^[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,8}\u{e007f}$/u;
const BLACK_FLAG = "\u{1f3f4}";
const OVERRIDE = /[\u202d\u202e]/;
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069]/;
const ISOLATE = /[\u202a\u202b\u2066-\u2068]/;
const CONTROL = /\p{Cc}/u;
/** Backspace, and what begins an order to a terminal. */
const TERMINAL: readonly string[] = ["\b", "\u001b", "\u009b"];
const VARIATION = /^[\ufe00-\ufe0f]$/;
const JOINERS_AND_VARIATION = /^[\ufe0e\ufe0f]?\u200d?$/;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Scripts that need joiners, or blanks without width for line breaks. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}0-9#*]|\u20e3/u;
const LETTER = /\p{L}/u;
/** So many invisible characters in a row can hold a message. */
const MESSAGE = 4;
/** A text with so many single ones is taken apart by them. */
const MANY = 3;

export function hiddenCharacters(text: string, isName: boolean): readonly Found[] {
  const found: Found[] = [];
  let within = 0;
  for (const { 0: run, index } of text.matchAll(SUSPECT)) {
    const end = index + run.length;
    const around = { before: before(text, index), after: after(text, end) };
    const severity = judged(run, { ...around, text, isName });
    if (severity !== undefined) found.push({ sign: "hidden-characters", severity, start: index, end });
    if (severity === "soft" && LETTER.test(around.before) && LETTER.test(around.after)) within++;
  }
  return within < MANY ? found : found.map((one) => ({ ...one, severity: "hard" }));
}

interface Around {
  readonly text: string;
  readonly isName: boolean;
  readonly before: string;
  readonly after: string;
}

function judged(run: string, { text, isName, before, after }: Around): SignSeverity | undefined {
  const characters = Array.from(run);
  if (TAG.test(run)) {
    const rest = characters.filter((one) => !/[\ufe0f\u200d]/.test(one)).join("");
    return before === BLACK_FLAG && REGION_TAGS.test(rest) ? undefined : "hard";
  }
  if (OVERRIDE.test(run) || TERMINAL.some((one) => run.includes(one))) return "hard";
  if (isPicture(run, before, after)) return undefined;
  if (isName) return "hard";
  if (CONTROL.test(run)) return "soft";
  if (DIRECTION.test(run)) {
    if (RIGHT_TO_LEFT.test(text)) return characters.length < MESSAGE ? undefined : "soft";
    return ISOLATE.test(run) ? "hard" : "soft";
  }
  if (run === "\ufeff" && before === "") return undefined;
  if (characters.length >= MESSAGE) return "hard";
  if (characters.length === 1 && run === "\u00ad") return undefined;
  return JOINING.test(before) || JOINING.test(after) ? undefined : "soft";
}

/** Joiners and the choice between picture and text belong to emoji, and variants to ideographs. */
function isPicture(run: string, before: string, after: string): boolean {
  if (before === "") return false;
  const characters = Array.from(run);
  if (characters.length === 1 && /[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u.test(run)) return JOINING.test(before);
  if (!JOINERS_AND_VARIATION.test(run)) return false;
  if (VARIATION.test(run)) return true;
  return PICTURE.test(before) || PICTURE.test(after);
}

function before(text: string, at: number): string {
  return Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? "";
}

function after(text: string, at: number): string {
  return Array.from(text.slice(at, at + 2))[0] ?? "";
}
