/** Splits a question of several steps into its clauses. A question of one step has none. */
import { isContent, words } from "./words.ts";

const SEAM =
  /(?<=[^\s.?!])[.?!]+(?:\s+|$)|[;\n。！？；]+|,?\s+(?:and then|then|and also|also|additionally|furthermore|moreover|as well as|finally|next|after that|afterwards)\b,?|,\s+(?:and|or|but)\s+|\s+and\s+|[,，]\s+/i;

export function clauses(question: string, most: number): string[] {
  const out: string[] = [];
  // The seams look ahead over white space: a long run of it would be looked over again from each of its places.
  for (const part of question.replaceAll(/[^\S\n]+/g, " ").split(SEAM)) {
    const weight = words(part).filter(isContent).length;
    if (weight === 0) continue;
    // One word alone is no step: it belongs to what was said before.
    if (out.length > 0 && (weight < 2 || out.length === most)) out[out.length - 1] += ` ${part}`;
    else out.push(part.trim());
  }
  return out.length > 1 ? out : [];
}
