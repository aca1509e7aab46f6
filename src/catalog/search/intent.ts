/** Which kinds of action a question asks for: its verbs in verb position. A question that begins with "what" or "who" asks to read. */
import { actionsOf, READ_ACTIONS } from "./actions.ts";
import type { Token } from "./everyday-words.ts";

const QUESTION_WORDS: ReadonlySet<string> = new Set(
  "what whats which who whom whose when where why how is are was were does did do has have any".split(" "),
);
/** "How do I delete it" asks to delete, not to read. */
const HOW_TO = /^how (?:to|(?:do|can|could|should|would) (?:i|we|you)) /;

/**
 * A mask of actions; 0 if the question does not say. `allWords` are all words of the question, `tokens` those of the question
 * and of its clauses.
 */
export function intentOf(allWords: readonly string[], tokens: readonly Token[]): number {
  const asksToRead = QUESTION_WORDS.has(allWords[0] ?? "") && !HOW_TO.test(allWords.join(" "));
  const verbs = tokens.filter(({ word, verbPosition }) => (asksToRead ? word === "" : verbPosition));
  const actions = actionsOf(verbs.flatMap(({ word, meanings }) => [word, ...meanings]));
  return asksToRead ? actions | READ_ACTIONS : actions;
}
