/**
 * A text as people read it: full-width and other compatibility characters in their plain form (NFKC), without
 * characters that cannot be seen. Detectors search this form, and what they find is masked in the text as it
 * was written.
 */
import type { Span } from "../../../kernel/secret-forms.ts";

const NOT_ASCII = /[^\0-\x7f]/;
/** For example zero-width characters, soft hyphens, and marks of the writing direction. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

const LONGEST_PLAIN = 4;

export interface PlainText {
  readonly text: string;
  /** The same place in the original text. */
  original(span: Span): Span;
}

/** Undefined if the text is plain already. Takes time linear in the text, and nearly none for ASCII. */
export function plainText(text: string): PlainText | undefined {
  if (!NOT_ASCII.test(text) || (!INVISIBLE.test(text) && text.normalize("NFKC") === text)) return undefined;
  const parts: string[] = [];
  /** For each character of the plain text, where its original begins and ends. */
  const [begins, ends]: [number[], number[]] = [[], []];
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    const plain = plainCharacter(character);
    for (let n = 0; n < plain.length; n++) {
      begins.push(at);
      ends.push(end);
    }
    parts.push(plain);
    at = end;
  }
  return {
    text: parts.join(""),
    original: ({ from, to }) => ({ from: begins[from] as number, to: ends[to - 1] as number }),
  };
}

function plainCharacter(character: string): string {
  if (character < "\u0080") return character;
  if (INVISIBLE.test(character)) return "";
  const plain = character.normalize("NFKC");
  // Signs for whole words, up to 18 characters, are no part of a secret, and would make the search that much
  // longer.
  return plain.length <= LONGEST_PLAIN ? plain : character;
}
