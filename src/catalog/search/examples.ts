/**
 * Finds example questions that are similar to a question. Each group of examples lists names that tools for
 * it have, so a question can find a tool that shares no word with it.
 */
import type { EverydayWords } from "./everyday-words.ts";
import type { KeyTable } from "./key-table.ts";
import type { KnownNames } from "./known-names.ts";
import { toUnit } from "./matrix.ts";
import { stem } from "./stem.ts";
import type { WordTable } from "./word-table.ts";

export const QUESTION_SEPARATOR = " | ";
export const NAME_SEPARATOR = " / ";
/** Words of any question. Other stop words, like "who" or "how", help to tell questions apart. */
const IGNORED: ReadonlySet<string> = new Set(
  "a an the of to in on at by for is are was it its that this i me my we our you your be do s t and or".split(
    " ",
  ),
);
/** Weight of two adjacent words, compared with a single word. */
const PAIR_WEIGHT = 0.5;
/** Meanings of one everyday expression that are compared; the later ones are unreliable. */
const MAX_MEANINGS = 2;
const MAX_GROUPS = 10;
/** Groups below this similarity do not count. */
const MIN_SIMILARITY = 0.3;
/**
 * Groups without a question this similar by its words hardly ever reach `MIN_SIMILARITY`: they are skipped
 * early.
 */
const MIN_COSINE = 0.26;
/** A feature that more than this share of all questions has is frequent. */
const FREQUENT_SHARE = 0.01;
const MIN_FREQUENT = 100;
/** A half similar question says much less than half as much about what is wanted. */
const STEEPNESS = 2;
/**
 * What the second most similar question of a group adds. Each further question adds this share of the one
 * before it.
 */
const NEXT_SHARE = 0.7;
const NEXT_STEEPNESS = 1.5;
/** Examples are short. Each word beyond this many reduces what they say about a long question. */
const SHORT = 10;
const LESS_PER_WORD = 0.1;
const NO_QUESTIONS = new Uint16Array(0);

/** A group of examples that is similar to a question. */
export interface SimilarGroup {
  /** In 0..1. */
  readonly similarity: number;
  /** Names that a tool for it may have, as words. */
  readonly names: readonly (readonly string[])[];
}

/**
 * Questions and names of a group as words with one space between them, so that reading them later is cheap.
 */
export interface ExampleTexts {
  /** Without ignored words. */
  readonly questions: string;
  readonly names: string;
}

/**
 * One line of the examples: questions that want the same tool. Split into words only when needed, since most
 * are never similar.
 */
class Group {
  readonly #texts: ExampleTexts;
  #names: readonly (readonly string[])[] | undefined;
  #mean: { readonly table: WordTable; readonly vector: Float32Array } | undefined;

  constructor(texts: ExampleTexts) {
    this.#texts = texts;
  }

  get names(): readonly (readonly string[])[] {
    this.#names ??= this.#texts.names.split(NAME_SEPARATOR).map((name) => name.split(" "));
    return this.#names;
  }

  /** The mean vector of its questions. */
  vector(table: WordTable): Float32Array {
    if (this.#mean?.table !== table) this.#mean = { table, vector: meanVector(this.#texts.questions, table) };
    return this.#mean.vector;
  }
}

/** The index of the examples. A feature is a stem, two adjacent stems or a meaning. */
export interface ExampleIndex {
  /** The first question of each group; at the end, how many questions there are. */
  readonly firstQuestions: Uint32Array;
  /** By the number of the group. */
  readonly textsOf: (group: number) => ExampleTexts;
  readonly features: KeyTable;
  /**
   * Where the questions of each feature begin in `questions`; at the end, where those of the last one end.
   */
  readonly starts: Uint32Array;
  /** The numbers of the questions that have a feature, feature by feature. */
  readonly questions: Uint16Array;
  /** 1 / the length of each question's vector of features. */
  readonly inverseLengths: Float32Array;
  readonly knownNames: KnownNames;
}

export class Examples {
  readonly knownNames: KnownNames;
  readonly size: number;
  readonly #everyday: EverydayWords;
  readonly #index: ExampleIndex;
  /** Those that were in reach of a question. */
  readonly #groups = new Map<number, Group>();
  readonly #groupOf: Uint32Array;
  /** Cosine with each question; reused for every search. */
  readonly #cosines: Float64Array;
  /** A feature of more questions is frequent. */
  readonly #frequent: number;

  constructor(everyday: EverydayWords, index: ExampleIndex) {
    this.#everyday = everyday;
    this.#index = index;
    this.knownNames = index.knownNames;
    const { firstQuestions } = index;
    this.size = firstQuestions.at(-1) ?? 0;
    this.#frequent = Math.max(MIN_FREQUENT, this.size * FREQUENT_SHARE);
    this.#groupOf = new Uint32Array(this.size);
    for (let at = 0; at + 1 < firstQuestions.length; at++)
      this.#groupOf.fill(at, firstQuestions[at], firstQuestions[at + 1]);
    this.#cosines = new Float64Array(this.size);
  }

  /**
   * The most similar groups for all words of a question, stop words included. Without a table only words are
   * compared.
   */
  similarTo(allWords: readonly string[], table?: WordTable): SimilarGroup[] {
    this.#cosines.fill(0);
    const telling = allWords.filter(isTelling);
    const vector = table?.vectorOf(telling);
    const found: { group: Group; similarity: number }[] = [];
    for (const at of this.#groupsInReach(allWords)) {
      const { firstQuestions } = this.#index;
      const [from, to] = [firstQuestions[at] as number, firstQuestions[at + 1] as number];
      const byWords = combined(this.#cosines, from, to);
      const rest = (1 - byWords) * Math.sqrt(byWords);
      // Not even the same meaning would make it similar.
      if (byWords + rest <= MIN_SIMILARITY) continue;
      const group = this.#group(at);
      const byMeaning = table && vector ? Math.max(0, dot(vector, group.vector(table))) : 0;
      const similarity = byWords + rest * byMeaning ** 2;
      if (similarity > MIN_SIMILARITY) found.push({ group, similarity });
    }
    found.sort((a, b) => b.similarity - a.similarity);
    const trust = 1 / (1 + LESS_PER_WORD * Math.max(0, new Set(telling).size - SHORT));
    // The further a group is behind the most similar one, the less it counts.
    const best = found[0]?.similarity ?? 1;
    return found.slice(0, MAX_GROUPS).map(({ group: { names }, similarity }) => ({
      names,
      similarity: (trust * similarity ** (STEEPNESS + 1)) / best,
    }));
  }

  /** Fills in the cosines. Returns the groups with a question that is similar enough, in their order. */
  #groupsInReach(allWords: readonly string[]): number[] {
    const cosines = this.#cosines;
    const shared: number[] = [];
    let squares = 0;
    const found: { readonly questions: Uint16Array; readonly square: number }[] = [];
    for (const key of featuresOf(allWords, this.#everyday)) {
      const questions = this.#questionsWith(key);
      const square = featureWeight(key, questions.length, this.size) ** 2;
      squares += square;
      if (questions.length > 0) found.push({ questions, square });
    }
    // The rarest first. A question that shares only frequent features is not similar. If all are frequent,
    // the rarest of them count.
    found.sort((a, b) => a.questions.length - b.questions.length);
    const mostForRare = Math.max(this.#frequent, found[0]?.questions.length ?? 0);
    for (const { questions, square } of found) {
      const isRare = questions.length <= mostForRare;
      for (let i = 0; i < questions.length; i++) {
        const at = questions[i] as number;
        if (cosines[at] !== 0) cosines[at] = (cosines[at] as number) + square;
        else if (isRare) {
          shared.push(at);
          cosines[at] = square;
        }
      }
    }
    const scale = 1 / Math.sqrt(squares);
    const groups = new Set<number>();
    for (let i = 0; i < shared.length; i++) {
      const at = shared[i] as number;
      const cosine = (cosines[at] as number) * (this.#index.inverseLengths[at] as number) * scale;
      cosines[at] = cosine;
      if (cosine >= MIN_COSINE) groups.add(this.#groupOf[at] as number);
    }
    return [...groups].sort((a, b) => a - b);
  }

  #group(at: number): Group {
    const known = this.#groups.get(at);
    if (known) return known;
    const group = new Group(this.#index.textsOf(at));
    this.#groups.set(at, group);
    return group;
  }

  /** The numbers of the questions that have a feature. */
  #questionsWith(key: string): Uint16Array {
    const { features, starts, questions } = this.#index;
    const at = features.indexOf(key);
    return at < 0 ? NO_QUESTIONS : questions.subarray(starts[at], starts[at + 1]);
  }
}

/** Stems, adjacent stems, and meanings of everyday expressions; each once. */
export function featuresOf(allWords: readonly string[], everyday: EverydayWords): Set<string> {
  const stems = allWords.map(stem);
  const features = new Set(stems.filter((_, i) => isTelling(allWords[i] as string)));
  for (let i = 0; i + 1 < allWords.length; i++) {
    if (isTelling(allWords[i] as string) || isTelling(allWords[i + 1] as string))
      features.add(`${stems[i]} ${stems[i + 1]}`);
  }
  for (const { word, meanings } of everyday.tokenize(allWords)) {
    for (const one of [word, ...meanings.slice(0, MAX_MEANINGS)])
      if (one !== "") features.add(`~${stem(one)}`);
  }
  return features;
}

export function isTelling(word: string): boolean {
  return !IGNORED.has(word);
}

/** The fewer of `size` questions have a feature, the more it counts. */
export function featureWeight(feature: string, count: number, size: number): number {
  return (feature.includes(" ") ? PAIR_WEIGHT : 1) * Math.log(1 + size / (1 + count));
}

/**
 * Sorts the cosines of one group. The most similar question counts fully; each further one fills a share of
 * the rest.
 */
function combined(cosines: Float64Array, from: number, to: number): number {
  // A group has few questions, and sorting them in place allocates nothing.
  for (let i = from + 1; i < to; i++) {
    const cosine = cosines[i] as number;
    let at = i;
    for (; at > from && (cosines[at - 1] as number) < cosine; at--) cosines[at] = cosines[at - 1] as number;
    cosines[at] = cosine;
  }
  let sum = cosines[from] as number;
  let share = NEXT_SHARE;
  for (let i = from + 1; i < to && (cosines[i] as number) > 0; i++) {
    sum += (1 - sum) * share * (cosines[i] as number) ** NEXT_STEEPNESS;
    share *= NEXT_SHARE;
  }
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += (a[d] as number) * (b[d] as number);
  return sum;
}

function meanVector(questions: string, table: WordTable): Float32Array {
  const sum = new Float32Array(table.dims);
  for (const question of questions.split(QUESTION_SEPARATOR)) {
    const vector = table.vectorOf(question.split(" "));
    for (let d = 0; vector && d < sum.length; d++) sum[d] = (sum[d] as number) + (vector[d] as number);
  }
  return toUnit(sum);
}
