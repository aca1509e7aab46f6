/** What can be set about ranking, and the values that were measured best. */

export type Strategy = "lexical" | "bm25" | "hybrid";

export interface FieldWeights {
  readonly name: number;
  readonly title: number;
  readonly description: number;
  readonly parameters: number;
  readonly parameterTexts: number;
  readonly server: number;
  readonly serverText: number;
}

/** What each kind of evidence counts; all are in 0..1. */
export interface EvidenceWeights {
  /** Keywords of the whole question. */
  readonly keyword: number;
  /** Meaning of the whole question. */
  readonly meaning: number;
  /** The clause that fits best, by keywords and by meaning: a question of several steps wants a tool for each. */
  readonly clauseKeyword: number;
  readonly clauseMeaning: number;
  /** What the other tools of the same server have to do with the question. */
  readonly siblings: number;
  /** Two words of the question side by side in the tool. */
  readonly pair: number;
  /** The same kind of action. */
  readonly action: number;
  /** How much of the tool's name was asked for. */
  readonly named: number;
  /** How much of the question the tool speaks of. */
  readonly coverage: number;
  /** How far the tool's name is one that questions like this one want. */
  readonly likeness: number;
  /** How far the tool speaks of what such names say. */
  readonly hints: number;
}

export interface SearchSettings {
  readonly strategy: Strategy;
  readonly k1: number;
  /** Length normalisation of texts; names are normalised less. */
  readonly b: number;
  readonly weights: FieldWeights;
  readonly evidence: EvidenceWeights;
  /** Tools beyond this many are not indexed. */
  readonly maxDocs: number;
  readonly maxResults: number;
}

export const MEASURED: SearchSettings = {
  strategy: "hybrid",
  k1: 1.2,
  b: 0.5,
  weights: {
    name: 3,
    title: 1.5,
    description: 1,
    parameters: 0.5,
    parameterTexts: 0.25,
    server: 1,
    serverText: 0.3,
  },
  evidence: {
    keyword: 1,
    meaning: 0.5,
    clauseKeyword: 0.35,
    clauseMeaning: 0.8,
    siblings: 1,
    pair: 0.5,
    action: 0.25,
    named: 0.6,
    coverage: 0.6,
    likeness: 5,
    hints: 1,
  },
  maxDocs: 200_000,
  maxResults: 1_000,
};

/** What someone wants otherwise; undefined leaves the measured value. */
export interface GivenSettings extends Partial<Undefinable<Omit<SearchSettings, "weights" | "evidence">>> {
  readonly weights?: Partial<Undefinable<FieldWeights>>;
}

type Undefinable<T> = { readonly [Key in keyof T]: T[Key] | undefined };

export function settingsWith({ weights = {}, ...given }: GivenSettings): SearchSettings {
  return { ...MEASURED, ...said(given), weights: { ...MEASURED.weights, ...said(weights) } };
}

function said<T extends object>(given: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
