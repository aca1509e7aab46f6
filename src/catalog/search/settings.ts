/** Settings of search and ranking. The defaults are the values that were measured best. */

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

/** The weight of each kind of evidence. The evidence itself is in 0..1; `action` may be negative. */
export interface EvidenceWeights {
  /** BM25F score of the whole question. */
  readonly keyword: number;
  /** Cosine of the vectors of the whole question and the tool. */
  readonly vector: number;
  /** Score of the clause that fits the tool best, by keywords and by vectors. A question of several steps needs a tool for each. */
  readonly clauseKeyword: number;
  readonly clauseVector: number;
  /** How well the other tools of the same server fit the question. */
  readonly siblings: number;
  /** Mean vector similarity of all tools of the server. */
  readonly serverVector: number;
  /** Adjacent words of the question that are also adjacent in the tool. */
  readonly pair: number;
  /** Whether the tool does the kind of action that the question asks for. */
  readonly action: number;
  /** How much of the tool's name is in the question. */
  readonly nameCoverage: number;
  /** How much of the question is in the tool's texts. */
  readonly coverage: number;
  /** How well the tool's name fits the names of similar examples. */
  readonly exampleName: number;
  /** BM25F score of the words of those names in the tool's texts. */
  readonly exampleWords: number;
}

export interface SearchSettings {
  readonly strategy: Strategy;
  /** Saturation of term frequencies (BM25). */
  readonly k1: number;
  /** Length normalization of texts. Names are normalized less. */
  readonly b: number;
  readonly weights: FieldWeights;
  readonly evidence: EvidenceWeights;
  /** Tools beyond this many are not indexed. */
  readonly maxDocs: number;
  readonly maxResults: number;
}

export const DEFAULT_SETTINGS: SearchSettings = {
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
    vector: 0.5,
    clauseKeyword: 0.35,
    clauseVector: 0.8,
    siblings: 1,
    serverVector: 0.5,
    pair: 0.5,
    action: 0.25,
    nameCoverage: 0.6,
    coverage: 0.6,
    exampleName: 5,
    exampleWords: 1,
  },
  maxDocs: 200_000,
  maxResults: 1_000,
};

/** Settings that differ from the defaults. An undefined value means the default. */
export interface SettingsOverrides
  extends Partial<Undefinable<Omit<SearchSettings, "weights" | "evidence">>> {
  readonly weights?: Partial<Undefinable<FieldWeights>>;
}

type Undefinable<T> = { readonly [Key in keyof T]: T[Key] | undefined };

export function settingsWith({ weights = {}, ...given }: SettingsOverrides): SearchSettings {
  return {
    ...DEFAULT_SETTINGS,
    ...defined(given),
    weights: { ...DEFAULT_SETTINGS.weights, ...defined(weights) },
  };
}

/** Leaves out undefined values, which would overwrite the defaults. */
function defined<T extends object>(given: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
