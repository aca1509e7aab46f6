/** Makes untrusted text safe to show: invisible and control characters are escaped. */

const LONGEST = 4_000;
/** Control characters, text directions, joiners, tags and unusual blanks. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

export function visible(text: string, longest = LONGEST): string {
  const shown = text.slice(0, longest).replaceAll(UNSEEN, escaped);
  return text.length > longest ? `${shown} … and ${text.length - longest} more characters` : shown;
}

/** For texts that are shown with their lines: line breaks and tabs stay, and nothing is cut. */
export function visibleLines(text: string): string {
  return text.replaceAll(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
