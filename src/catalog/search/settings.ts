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
    meaning: 0.25,
    clauseKeyword: 0.35,
    clauseMeaning: 0.6,
    siblings: 1,
    pair: 0.5,
    action: 0.2,
  },
  maxDocs: 200_000,
  maxResults: 100,
};

/** Reads METAMCP_SEARCH_*. What is missing or makes no sense keeps the measured value. */
export function settingsFrom(env: Readonly<Record<string, string | undefined>>): SearchSettings {
  const number = (name: string, low: number, high: number, otherwise: number): number => {
    const text = env[`METAMCP_SEARCH_${name}`]?.trim();
    const value = Number(text);
    return text && value >= low && value <= high ? value : otherwise;
  };
  const weight = (name: string, otherwise: number): number =>
    number(`BM25_${name}_WEIGHT`, 0, 100, otherwise);
  const named = env["METAMCP_SEARCH_STRATEGY"]?.trim().toLowerCase();
  const { weights, ...rest } = MEASURED;
  return {
    strategy: named === "lexical" || named === "bm25" || named === "hybrid" ? named : rest.strategy,
    k1: number("BM25_K1", 0.01, 10, rest.k1),
    b: number("BM25_B", 0, 1, rest.b),
    weights: {
      name: weight("NAME", weights.name),
      title: weight("TITLE", weights.title),
      description: weight("DESCRIPTION", weights.description),
      parameters: weight("PARAMETERS", weights.parameters),
      parameterTexts: weight("PARAMETER_TEXTS", weights.parameterTexts),
      server: weight("SERVER", weights.server),
      serverText: weight("SERVER_TEXT", weights.serverText),
    },
    evidence: rest.evidence,
    maxDocs: Math.floor(number("MAX_DOCS", 1, 1_000_000, rest.maxDocs)),
    maxResults: Math.floor(number("MAX_RESULTS", 1, 1_000, rest.maxResults)),
  };
}
