/** Splits a question of several steps into its clauses. */
import { isContent, words } from "./words.ts";

const SEPARATOR =
  /(?<=[^\s.?!])[.?!]+(?:\s+|$)|[;\n。！？；]+|,?\s+(?:and then|then|and also|also|additionally|furthermore|moreover|as well as|finally|next|after that|afterwards)\b,?|,\s+(?:and|or|but)\s+|\s+and\s+|[,，]\s+/i;

/** At most `limit` clauses; none if the question has only one step. */
export function splitClauses(question: string, limit: number): string[] {
  const out: string[] = [];
  // The separator looks ahead over white space. A long run of it would take quadratic time.
  for (const part of question.replaceAll(/[^\S\n]+/g, " ").split(SEPARATOR)) {
    const count = words(part).filter(isContent).length;
    if (count === 0) continue;
    // A single word is not a step. It belongs to the clause before it.
    if (out.length > 0 && (count < 2 || out.length === limit)) out[out.length - 1] += ` ${part}`;
    else out.push(part.trim());
  }
  return out.length > 1 ? out : [];
}
