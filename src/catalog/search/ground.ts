/** What a ranking stands on: the tools, the part of them in view, and what is known of meaning. */
import type { Collection } from "./collection.ts";
import type { Matrix } from "./matrix.ts";
import type { Phrase } from "./question.ts";
import type { SearchView } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Vectors of tools and of texts, from whatever source. */
export interface Sense {
  /** Even unrelated texts are alike, as with most models: only what is above the mean counts. */
  readonly crowded: boolean;
  /** Whether it is a word of the language, and so neither a typing error nor nonsense. */
  isWord(word: string): boolean;
  readonly matrix: Matrix;
  /** A unit vector; undefined if the phrase means nothing here. */
  vectorOf(phrase: Phrase): Float32Array | undefined;
}

export interface Ground {
  readonly collection: Collection;
  readonly view: SearchView;
  readonly workspace: Workspace;
  /** Undefined where there are no vectors: then words alone decide. */
  readonly sense: Sense | undefined;
}
