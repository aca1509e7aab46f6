/** How likely a hit is the right one, comparable between questions and catalogs. Does not change the order of hits. */
import { coverageOf } from "./coverage.ts";
import { exampleNameScores } from "./example-names.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import type { SearchContext } from "./search-context.ts";

/** What the confidence of a hit is computed from; all but `margin` in 0..1. */
export interface Signals {
  /** Which share of the question, by weight of its terms, the tool contains. */
  readonly coverage: number;
  /** How well the tool's name fits names that similar examples have. */
  readonly exampleName: number;
  /** Cosine of the vectors of question and tool. */
  readonly cosine: number;
  /**
   * Factor for the confidence: below 1 if question and tool have little in common, or if many words of the question
   * are no words. A nonsense question has a best hit too, and that hit may be far above the next.
   */
  readonly plausibility: number;
  /** Its share among the first hits: the softmax of their scores. */
  readonly scoreShare: number;
  /** For the first hit its score minus the second's, for others minus the first's; 0 for a single hit. */
  readonly margin: number;
}

/** Hits that are compared with each other. */
export const RIVALS = 10;
/** Factor for scores in the softmax. */
const SHARPNESS = 4;
/** A margin beyond this does not change the confidence. */
const MAX_MARGIN = 2;
const LATIN = /^[a-z]/;
/** Confidence of a tool whose exact name is the question. */
export const EXACT_NAME_CONFIDENCE = 0.96;

/** Coefficients of a logistic regression, fitted on our own questions and public ones by bench/retrieval/calibrate.mjs; see design/retrieval.md. */
const COEFFICIENTS = {
  base: -0.83,
  coverage: 0.08,
  exampleName: 1.36,
  scoreShare: 0.97,
  margin: 1.28,
} as const;
/** Below this coverage, cosine and example name, a hit is less plausible. */
const MIN_IN_COMMON = 0.6;
/** Below this share of known words, a question is less plausible. */
const MIN_KNOWN_WORDS = 0.9;

export function confidenceOf({ coverage, exampleName, plausibility, scoreShare, margin }: Signals): number {
  const byText = COEFFICIENTS.coverage * coverage + COEFFICIENTS.exampleName * exampleName;
  const sum =
    COEFFICIENTS.base + byText + COEFFICIENTS.scoreShare * scoreShare + COEFFICIENTS.margin * margin;
  return Math.round((1000 * plausibility) / (1 + Math.exp(-sum))) / 1000;
}

/** Weights of `fitOf`, measured with and without the servers that have the right tool. */
const FIT = { coverage: 0.5, cosine: 0.25, confidence: 0.25 } as const;

/** How well the tool does what was asked. Unlike the confidence it does not fall if other tools fit as well. */
export function fitOf(
  { coverage, cosine }: Pick<Signals, "coverage" | "cosine">,
  confidence: number,
): number {
  if (confidence === EXACT_NAME_CONFIDENCE) return confidence;
  const fit = FIT.coverage * coverage + FIT.cosine * cosine + FIT.confidence * confidence;
  return Math.round(1000 * fit) / 1000;
}

/** The signals of each hit. `ranked` must be in order and contain the first `RIVALS` hits. */
export function signalsOf(question: Question, context: SearchContext, ranked: readonly Ranked[]): Signals[] {
  const { vectors } = context;
  const vector = vectors?.vectorOf(question);
  const slots = ranked.map(({ slot }) => slot);
  const coverage = coverageOf(question, context, slots);
  const exampleNames = exampleNameScores(question, context, slots);
  const sensible = Math.min(1, knownWordShare(question, context) / MIN_KNOWN_WORDS);
  const [first = 0, second = first] = ranked.map(({ score }) => score);
  // Missing rivals count as score 0. Otherwise a catalog with a single tool would always be certain of it.
  const rivals = Array.from({ length: RIVALS }, (_, i) => Math.exp(SHARPNESS * (ranked[i]?.score ?? 0)));
  const all = rivals.reduce((sum, rival) => sum + rival, 0);
  return ranked.map(({ slot, score }, i) => {
    const cosine = vector && vectors ? Math.max(0, vectors.matrix.cosine(slot, vector)) : 0;
    const inCommon = Math.max(coverage[i] as number, cosine, exampleNames[i] as number);
    return {
      coverage: coverage[i] as number,
      exampleName: exampleNames[i] as number,
      cosine,
      plausibility: sensible * Math.min(1, inCommon / MIN_IN_COMMON),
      scoreShare: Math.exp(SHARPNESS * score) / all,
      margin: Math.max(-MAX_MARGIN, Math.min(MAX_MARGIN, score - (i === 0 ? second : first))),
    };
  });
}

/**
 * Which share of the question's words a tool or the word table has. Numbers and words in other scripts than Latin count as
 * known, since the table cannot have them.
 */
function knownWordShare({ words, unknown }: Question, { vectors }: SearchContext): number {
  const unrecognized = unknown.filter((word) => LATIN.test(word) && !vectors?.isWord(word)).length;
  return words.length > 0 ? 1 - unrecognized / words.length : 0;
}
