/** How likely a hit is what was asked for, by what can be seen of it: comparable between questions and catalogs. */
import { coverageOf } from "./coverage.ts";
import type { Ground } from "./ground.ts";
import { likenessOf } from "./likeness.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";

/** What a hit shows; in 0..1 where nothing else is said. */
export interface Signs {
  /** Which share of the question, by rarity, the tool speaks of. */
  readonly coverage: number;
  /** How far it is what questions like this one want. */
  readonly likeness: number;
  /** Cosine of meanings. */
  readonly close: number;
  /** Whether it has enough in common with a question that makes sense: nonsense finds something too, and that stands out. */
  readonly grounded: number;
  /** How far it stands out among the first hits: its share of them. */
  readonly ahead: number;
  /** By how much it beats the next, or is beaten by the first; 0 where it is alone. */
  readonly lead: number;
}

/** Hits that compete for being the right one. */
export const RIVALS = 10;
/** How sharply scores tell rivals apart. */
const SHARPNESS = 4;
/** Who is further ahead or behind is not surer. */
const MOST_LEAD = 2;
const LATIN = /^[a-z]/;
/** Of a hit whose name is the question. */
export const CALLED_BY_NAME = 0.96;

/** Fitted on our own questions by bench/retrieval/calibrate.mjs; see design/retrieval.md. */
const FITTED = { base: -1.6, coverage: 0.82, likeness: 2.21, ahead: 0.89, lead: 1.26 } as const;
/** Below this much in common, by words, by meaning or by questions like it, standing out means little. */
const GROUNDED = 0.35;
/** Below this share of words that are some, it is mostly nonsense. */
const SENSIBLE = 0.9;

export function confidenceOf({ coverage, likeness, grounded, ahead, lead }: Signs): number {
  const said = FITTED.coverage * coverage + FITTED.likeness * likeness;
  const sum = FITTED.base + said + FITTED.ahead * ahead + FITTED.lead * lead;
  return Math.round((1000 * grounded) / (1 + Math.exp(-sum))) / 1000;
}

/** What was asked for and found in it counts most; measured with and without the servers that do what is asked. */
const FIT = { coverage: 0.5, close: 0.25, confidence: 0.25 } as const;

/** Whether it is of any use, which many can be: unlike confidence it does not fall where others fit as well. */
export function fitOf({ coverage, close }: Pick<Signs, "coverage" | "close">, confidence: number): number {
  if (confidence === CALLED_BY_NAME) return confidence;
  const fit = FIT.coverage * coverage + FIT.close * close + FIT.confidence * confidence;
  return Math.round(1000 * fit) / 1000;
}

/** For each of `ranked`, which is in order and holds the rivals. */
export function signsOf(question: Question, ground: Ground, ranked: readonly Ranked[]): Signs[] {
  const { sense } = ground;
  const vector = sense?.vectorOf(question);
  const slots = ranked.map(({ slot }) => slot);
  const coverage = coverageOf(question, ground, slots);
  const likeness = likenessOf(question, ground, slots);
  const sensible = Math.min(1, sensibleShare(question, ground) / SENSIBLE);
  const [first = 0, second = first] = ranked.map(({ score }) => score);
  // Whom nobody competes with is compared with nothing, lest a small catalog make everything sure.
  const field = Array.from({ length: RIVALS }, (_, i) => Math.exp(SHARPNESS * (ranked[i]?.score ?? 0)));
  const all = field.reduce((sum, rival) => sum + rival, 0);
  return ranked.map(({ slot, score }, i) => {
    const close = vector && sense ? Math.max(0, sense.matrix.cosine(slot, vector)) : 0;
    const common = Math.max(coverage[i] as number, close, likeness[i] as number);
    return {
      coverage: coverage[i] as number,
      likeness: likeness[i] as number,
      close,
      grounded: sensible * Math.min(1, common / GROUNDED),
      ahead: Math.exp(SHARPNESS * score) / all,
      lead: Math.max(-MOST_LEAD, Math.min(MOST_LEAD, score - (i === 0 ? second : first))),
    };
  });
}

/** Which share of the question's words are words at all. Numbers, and what is not written in Latin letters, cannot be judged and count as words. */
function sensibleShare({ words, unknown }: Question, { sense }: Ground): number {
  const strange = unknown.filter((word) => LATIN.test(word) && !sense?.isWord(word)).length;
  return words.length > 0 ? 1 - strange / words.length : 0;
}
