/**
 * The search over all tools. Processes updates in slices so that other work gets turns, and loads its word
 * lists and vectors at the first search.
 *
 * A search parses the question (question.ts), ranks the tools in view (rank.ts) and estimates how likely each
 * hit is the right one (confidence.ts). Tools are numbered by slots (collection.ts), words by ids, and words
 * with the same stem share a term (lexicon.ts). design/retrieval.md describes the method and the
 * measurements.
 */

import type { ServerId } from "../../kernel/call.ts";
import { Sequencer } from "../../kernel/sequencer.ts";
import type { Tool } from "../tool.ts";
import { loadAskedActions } from "./asked-actions.ts";
import { BuiltInVectors } from "./built-in-vectors.ts";
import { Collection } from "./collection.ts";
import { type Confidence, confidencesOf, EXACT_NAME_CONFIDENCE } from "./confidence.ts";
import { isExactName } from "./detail.ts";
import { type EmbedderParts, EmbedderVectors, type QuestionVectors } from "./embedder-vectors.ts";
import { loadEverydayWords } from "./everyday-words.ts";
import type { Examples } from "./examples.ts";
import { loadExamples } from "./load-examples.ts";
import { loadNetwork } from "./network.ts";
import { parseQuestion, type Question, textsOf } from "./question.ts";
import { type Ranking, rank, rankByKeywords, rankByWords, type Scorer } from "./rank.ts";
import type { SearchContext, VectorSpace } from "./search-context.ts";
import { DEFAULT_SETTINGS, type SearchSettings } from "./settings.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";
import { viewOf } from "./view.ts";
import { loadWordTable, type WordTable } from "./word-table.ts";
import { words } from "./words.ts";
import { Workspace } from "./workspace.ts";

export interface SearchParts {
  /** Without an embedder, no data leaves the process. */
  readonly embedder?: EmbedderParts;
  /** Loads the word vectors; by default those of the package. */
  readonly loadWords?: () => Promise<WordTable | undefined>;
  /** Loads the examples; by default those of the package. */
  readonly loadExamples?: () => Promise<Examples>;
  /** Loads what scores the evidence; by default the network of the package. */
  readonly loadScorer?: () => Promise<Scorer | undefined>;
}

export function createSearch(
  settings: SearchSettings = DEFAULT_SETTINGS,
  parts: SearchParts = {},
): SearchStrategy {
  return new Search(settings, parts);
}

/**
 * Without word vectors only words of this length and more are checked for typing errors, since many short
 * words differ in one letter.
 */
const MIN_TYPO_LENGTH = 8;

const EXACT_NAME: Confidence = { confidence: EXACT_NAME_CONFIDENCE, fit: EXACT_NAME_CONFIDENCE };

/** Work between two pauses, in characters read: a few milliseconds. */
const SLICE = 40_000;

class Search implements SearchStrategy {
  readonly #settings: SearchSettings;
  readonly #parts: SearchParts;
  readonly #collection: Collection;
  readonly #embedder: EmbedderVectors | undefined;
  readonly #workspace = new Workspace();
  /** A search sees all updates that were made before it, and none of the later ones. */
  readonly #queue = new Sequencer();
  /** Work since the last pause, over several updates. */
  #costSincePause = 0;
  /** Undefined before the first search with vectors. */
  #builtIn: Promise<BuiltInVectors | undefined> | undefined;

  constructor(settings: SearchSettings, parts: SearchParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#collection = new Collection(settings);
    this.#embedder = parts.embedder && new EmbedderVectors(parts.embedder, this.#collection);
  }

  get mostShown(): number {
    return this.#settings.maxResults;
  }

  update(server: ServerId, tools: readonly Tool[], text: ServerText = {}): void {
    this.#enqueue(async () => {
      await this.#inSlices(this.#collection.replace({ server, tools, text }));
      this.#embedder?.update(server, tools);
      // After the first search an update adds the vectors too, so that the next search does not wait for
      // them.
      if (this.#builtIn) await this.#addMissing(await this.#builtIn);
    });
  }

  remove(server: ServerId): void {
    this.#enqueue(async () => {
      await this.#inSlices(this.#collection.remove(server));
      this.#embedder?.remove(server);
    });
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    const texts = textsOf(query);
    if (words(texts[0] ?? "").length === 0) return await this.#afterUpdates(() => []);
    // Outside of the queue, so that a slow embedder delays only this search.
    const vectors = this.#embedder ? await this.#embedder.embedQuestion(texts) : undefined;
    return await this.#afterUpdates(async () => await this.#hits(query, options, vectors));
  }

  async #afterUpdates(work: () => Hit[] | Promise<Hit[]>): Promise<Hit[]> {
    return await this.#queue.run(work);
  }

  /** Ignores errors, so that one unreadable list does not end the search in all others. */
  #enqueue(work: () => void | Promise<void>): void {
    this.#queue.run(work).catch(() => {});
  }

  async #hits(
    query: string,
    { limit, scope }: SearchOptions,
    questionVectors: QuestionVectors | undefined,
  ): Promise<Hit[]> {
    const collection = this.#collection;
    const vectors =
      this.#settings.strategy === "hybrid" ? await this.#vectorSpace(questionVectors) : undefined;
    const view = viewOf(collection, scope);
    const language = {
      everyday: await loadEverydayWords(),
      examples: await (this.#parts.loadExamples ?? loadExamples)(),
      actions: await loadAskedActions(),
      table: (await this.#builtIn)?.table,
      isWord: (word: string) => isWord(word, vectors),
    };
    const question = parseQuestion(query, collection, view, language);
    this.#workspace.reset();
    const context = { collection, view, workspace: this.#workspace, vectors };
    const scorer = await (this.#parts.loadScorer ?? loadNetwork)();
    const { hits, candidates } = this.#rank(question, context, Math.max(0, limit), scorer);
    const { missingName } = this.#settings;
    const knownNames = language.examples.knownNames.shareOf(candidates, collection);
    const confidences = confidencesOf(question, context, { hits, knownNames, missingName });
    // Capped by the hits before it: a later hit is never more likely, even if it has more in common with the
    // question.
    let highest = 1;
    return hits.map(({ slot, score }, i) => {
      const own = isExactName(question, collection, slot) ? EXACT_NAME : (confidences[i] as Confidence);
      highest = Math.min(highest, own.confidence);
      return {
        server: collection.at(slot)?.segment.server ?? "",
        name: collection.nameOf(slot),
        score,
        confidence: highest,
        fit: own.fit,
      };
    });
  }

  /** Without a scorer, keywords rank. */
  #rank(question: Question, context: SearchContext, limit: number, scorer: Scorer | undefined): Ranking {
    const { strategy } = this.#settings;
    if (strategy === "lexical") return rankByWords(question, context, { limit });
    if (strategy === "bm25" || !scorer) return rankByKeywords(question, context, { limit });
    return rank(question, context, { scorer, limit });
  }

  /** The vectors of the embedder if it has all of them, else the built-in ones. */
  async #vectorSpace(questionVectors: QuestionVectors | undefined): Promise<VectorSpace | undefined> {
    const load = this.#parts.loadWords ?? loadWordTable;
    this.#builtIn ??= load().then((table) => table && new BuiltInVectors(table, this.#collection));
    const builtIn = await this.#builtIn;
    const space = questionVectors && this.#embedder?.spaceFor(questionVectors, builtIn);
    if (space) return space;
    await this.#addMissing(builtIn);
    return builtIn;
  }

  async #addMissing(vectors: BuiltInVectors | undefined): Promise<void> {
    if (vectors) await this.#inSlices(vectors.addMissing());
  }

  /** Runs the work to its end. After each slice, other work gets a turn. */
  async #inSlices(work: Generator<number>): Promise<void> {
    for (const cost of work) {
      this.#costSincePause += cost;
      if (this.#costSincePause < SLICE) continue;
      this.#costSincePause = 0;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

function isWord(word: string, vectors: VectorSpace | undefined): boolean {
  return vectors ? vectors.isWord(word) : word.length < MIN_TYPO_LENGTH;
}
