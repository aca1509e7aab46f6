/** What a ranking works on: the tools, the part of them in view, and vectors if there are any. */
import type { Collection } from "./collection.ts";
import type { Matrix } from "./matrix.ts";
import type { Phrase } from "./question.ts";
import type { SearchView } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Vectors of tools and of phrases from the same source, built in or an embedder, so that they can be
 * compared.
 */
export interface VectorSpace {
  /**
   * With most embedding models even unrelated texts have a high cosine. Then only the part above the mean
   * counts.
   */
  readonly subtractMean: boolean;
  /** Whether it is a word of the language. If not, it is a typing error or nonsense. */
  isWord(word: string): boolean;
  /** The vectors of the tools. */
  readonly matrix: Matrix;
  /** A unit vector; undefined if there is none for the phrase. */
  vectorOf(phrase: Phrase): Float32Array | undefined;
}

export interface SearchContext {
  readonly collection: Collection;
  readonly view: SearchView;
  /** Arrays for scores, one number per slot. */
  readonly workspace: Workspace;
  /** Undefined if there are no vectors; then only words count. */
  readonly vectors: VectorSpace | undefined;
}
