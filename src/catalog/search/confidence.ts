/**
 * How likely a hit is the right one, comparable between questions and catalogs. Does not change the order of
 * hits.
 */
import { exampleTrust } from "./evidence.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import type { SearchContext } from "./search-context.ts";

export interface Confidence {
  readonly confidence: number;
  /**
   * How well the tool does what was asked. Unlike the confidence it does not fall if other tools fit as well.
   */
  readonly fit: number;
}

/**
 * How the odds of a hit depend on the share of tools with names that the examples know. Where they know most
 * names, the first hit is right more often than its probability says; below `least` the share says nothing.
 * Chosen on our own questions (design/retrieval.md).
 */
const KNOWN_NAMES = { least: 0.6, neutral: 0.57, most: 0.85, steepness: 5 } as const;
const LATIN = /^[a-z]/;
/** Confidence of a tool whose exact name is the question. No other tool has more. */
export const EXACT_NAME_CONFIDENCE = 0.98;
/** Below this coverage, cosine and example name, a hit is less plausible. */
const MIN_IN_COMMON = 0.4;
/** Below this share of known words, a question is less plausible. */
const MIN_KNOWN_WORDS = 0.9;
/** Weights of `fit`, measured with and without the servers that have the right tool. */
const FIT = { coverage: 0.5, cosine: 0.25, confidence: 0.25 } as const;

interface Hits {
  readonly hits: readonly Ranked[];
  /** Which share of the tools that they were selected from has a name that the examples know. */
  readonly knownNames: number;
  readonly missingName: number;
}

/**
 * The probability that the ranking found, corrected by the share of known names, times the plausibility:
 * below 1 if question and tool have little in common, or if many words of the question are no words. A
 * nonsense question has a best hit too, and that hit may be far above the next.
 */
export function confidencesOf(
  question: Question,
  context: SearchContext,
  { hits, knownNames, missingName }: Hits,
): Confidence[] {
  const { vectors } = context;
  const vector = vectors?.vectorOf(question);
  const sensible = Math.min(1, knownWordShare(question, context) / MIN_KNOWN_WORDS) ** 2;
  const factor = oddsFactor(knownNames);
  return hits.map(({ slot, probability, coverage, exampleName }) => {
    const cosine = vector && vectors ? Math.max(0, vectors.matrix.cosine(slot, vector)) : 0;
    const inCommon = Math.max(coverage, cosine, exampleName);
    const plausibility = sensible * Math.min(1, inCommon / MIN_IN_COMMON);
    const confidence = Math.min(EXACT_NAME_CONFIDENCE, plausibility * corrected(probability, factor));
    // Examples know what a tool for this question is called. If no tool has such a name, the right one is
    // probably missing.
    const missing = missingName * (exampleTrust(question) - exampleName);
    const fit = FIT.coverage * coverage + FIT.cosine * cosine + FIT.confidence * confidence - missing;
    return { confidence: rounded(confidence), fit: rounded(Math.max(0, fit)) };
  });
}

function oddsFactor(knownNames: number): number {
  const { least, neutral, most, steepness } = KNOWN_NAMES;
  return Math.exp(steepness * (Math.min(most, Math.max(least, knownNames)) - neutral));
}

function corrected(probability: number, factor: number): number {
  const odds = factor * probability;
  return odds / (odds + 1 - probability);
}

function rounded(value: number): number {
  return Math.round(1000 * value) / 1000;
}

/**
 * Which share of the question's words a tool or the word table has. Numbers and words in other scripts than
 * Latin count as known, since the table cannot have them.
 */
function knownWordShare({ words, unknown }: Question, { vectors }: SearchContext): number {
  const unrecognized = unknown.filter((word) => LATIN.test(word) && !vectors?.isWord(word)).length;
  return words.length > 0 ? 1 - unrecognized / words.length : 0;
}
