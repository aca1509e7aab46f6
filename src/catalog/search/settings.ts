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

export interface SearchSettings {
  readonly strategy: Strategy;
  /** Saturation of term frequencies (BM25). */
  readonly k1: number;
  /** Length normalization of texts. Names are normalized less. */
  readonly b: number;
  readonly weights: FieldWeights;
  /** How much the fit of a tool falls if a similar example wants a name that the tool does not have. */
  readonly missingName: number;
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
  missingName: 0.5,
  maxDocs: 200_000,
  maxResults: 1_000,
};

/** Settings that differ from the defaults. An undefined value means the default. */
export interface SettingsOverrides extends Partial<Undefinable<Omit<SearchSettings, "weights">>> {
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
