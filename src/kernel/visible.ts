/** Makes untrusted text safe to show: invisible and control characters are escaped. */

const LONGEST = 4_000;
/** Control characters, text directions, joiners, tags and unusual blanks. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** A long text is shortened in the middle, because whoever wrote it could hide its end otherwise. */
export function visible(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text.replaceAll(UNSEEN, escaped);
  const half = Math.ceil(longest / 2);
  const [begin, end] = [text.slice(0, half), text.slice(text.length - half)];
  return `${begin} … ${text.length - 2 * half} characters left out … ${end}`.replaceAll(UNSEEN, escaped);
}

/** For texts that are shown with their lines: line breaks and tabs stay, and nothing is cut. */
export function visibleLines(text: string): string {
  return text.replaceAll(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
