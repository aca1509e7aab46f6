/** What kind of action a question wants: the verbs that stand where one says what is to be done; who asks "what" or "who" wants to read. */
import { actionsOf, READS } from "./actions.ts";
import type { Piece } from "./everyday.ts";

const ASKS: ReadonlySet<string> = new Set(
  "what whats which who whom whose when where why how is are was were does did do has have any".split(" "),
);
/** "How do I delete it" wants it deleted. */
const WAY_TO_DO = /^how (?:to|(?:do|can|could|should|would) (?:i|we|you)) /;

/** `said` are all words of the question, `pieces` what was made of them and of its clauses. Zero where it does not say. */
export function intentOf(said: readonly string[], pieces: readonly Piece[]): number {
  const asks = ASKS.has(said[0] ?? "") && !WAY_TO_DO.test(said.join(" "));
  const told = pieces.filter(({ word, verbal }) => (asks ? word === "" : verbal));
  const wanted = actionsOf(told.flatMap(({ word, meant }) => [word, ...meant]));
  return asks ? wanted | READS : wanted;
}
