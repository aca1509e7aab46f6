/** The search over all tools: takes updates in slices, answers in between, and loads word vectors when first asked. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import { BorrowedMeaning, type Lender } from "./borrowed-meaning.ts";
import { Collection } from "./collection.ts";
import { CALLED_BY_NAME, confidenceOf, fitOf, RIVALS, type Signs, signsOf } from "./confidence.ts";
import { isNamed } from "./detail.ts";
import { loadEveryday } from "./everyday.ts";
import type { Examples } from "./examples.ts";
import type { Ground, Sense } from "./ground.ts";
import { loadExamples } from "./load-examples.ts";
import { Meaning } from "./meaning.ts";
import { type Question, readQuestion, textsOf } from "./question.ts";
import { rank, rankByKeywords, rankByWords } from "./rank.ts";
import { MEASURED, type SearchSettings } from "./settings.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";
import { viewOf } from "./view.ts";
import { loadWordTable, type WordTable } from "./word-table.ts";
import { words } from "./words.ts";
import { Workspace } from "./workspace.ts";

export interface SearchParts {
  /** An embedder to borrow meaning from; without one nothing leaves the process. */
  readonly lender?: Lender;
  /** Where word vectors come from; the package's own unless given. */
  readonly loadWords?: () => Promise<WordTable | undefined>;
  /** Where examples come from; the package's own unless given. */
  readonly loadExamples?: () => Promise<Examples>;
  /** Sees what the confidence of each hit is made of; for calibration. */
  readonly onSigns?: (signs: readonly Signs[]) => void;
}

export function createSearch(settings: SearchSettings = MEASURED, parts: SearchParts = {}): SearchStrategy {
  return new Search(settings, parts);
}

type Vectors = ReadonlyMap<string, Float32Array>;

/** Where no one knows the language's words, a short one is taken as it is: many are one letter from another. */
const SHORTEST_GUESS = 8;

/** Characters read between two pauses: a few milliseconds. */
const SLICE = 40_000;

class Search implements SearchStrategy {
  readonly #settings: SearchSettings;
  readonly #parts: SearchParts;
  readonly #collection: Collection;
  readonly #borrowed: BorrowedMeaning | undefined;
  readonly #workspace = new Workspace();
  /** Work in its order: a question sees the updates asked for before it, whole, and none of the later ones. */
  #tail: Promise<void> = Promise.resolve();
  /** Work done since the last pause, over however many updates. */
  #spent = 0;
  #meaning: Promise<Meaning | undefined> | undefined;

  constructor(settings: SearchSettings, parts: SearchParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#collection = new Collection(settings);
    this.#borrowed = parts.lender && new BorrowedMeaning(parts.lender, this.#collection);
  }

  get mostShown(): number {
    return this.#settings.maxResults;
  }

  update(server: ServerId, tools: readonly Tool[], text: ServerText = {}): void {
    this.#inOrder(async () => {
      await this.#inSlices(this.#collection.replace({ server, tools, text }));
      this.#borrowed?.learn(server, tools);
      // Once someone has asked, the next question need not wait for this.
      if (this.#meaning) await this.#catchUp(await this.#meaning);
    });
  }

  remove(server: ServerId): void {
    this.#inOrder(async () => {
      await this.#inSlices(this.#collection.remove(server));
      this.#borrowed?.forget(server);
    });
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    const texts = textsOf(query);
    if (words(texts[0] ?? "").length === 0) return await this.#inTurn(() => []);
    // Asked outside of the queue: a slow embedder holds up its own question only.
    const vectors = this.#borrowed ? await this.#borrowed.ask(texts) : undefined;
    return await this.#inTurn(async () => await this.#answer(query, options, vectors));
  }

  async #inTurn(work: () => Hit[] | Promise<Hit[]>): Promise<Hit[]> {
    return await new Promise<Hit[]>((resolve, reject) => {
      this.#inOrder(async () => {
        await Promise.resolve().then(work).then(resolve, reject);
      });
    });
  }

  /** One list that cannot be read must not end the search in all others. */
  #inOrder(work: () => void | Promise<void>): void {
    this.#tail = this.#tail.then(work).catch(() => {});
  }

  async #answer(
    query: string,
    { limit, scope }: SearchOptions,
    vectors: Vectors | undefined,
  ): Promise<Hit[]> {
    const collection = this.#collection;
    const sense = this.#settings.strategy === "hybrid" ? await this.#senseFor(vectors) : undefined;
    const view = viewOf(collection, scope);
    const language = {
      everyday: await loadEveryday(),
      examples: await (this.#parts.loadExamples ?? loadExamples)(),
      table: (await this.#meaning)?.table,
      isWord: (word: string) => isWord(word, sense),
    };
    const question = readQuestion(query, collection, view, language);
    this.#workspace.reset();
    const ground = { collection, view, workspace: this.#workspace, sense };
    const most = Math.max(0, limit);
    const ranked = this.#rank(question, ground, most).slice(0, Math.max(RIVALS, most));
    const signs = signsOf(question, ground, ranked);
    this.#parts.onSigns?.(signs);
    // Who comes later is no likelier, whatever speaks for it alone.
    let confidence = 1;
    return ranked.slice(0, most).map(({ slot, score }, i) => {
      const sign = signs[i] as Signs;
      const own = isNamed(question, collection, slot) ? CALLED_BY_NAME : confidenceOf(sign);
      confidence = Math.min(confidence, own);
      return {
        server: collection.at(slot)?.segment.server ?? "",
        name: collection.nameOf(slot),
        score,
        confidence,
        fit: fitOf(sign, confidence),
      };
    });
  }

  #rank(question: Question, ground: Ground, most: number): ReturnType<typeof rank> {
    const { strategy, evidence: weights } = this.#settings;
    if (strategy === "hybrid") return rank(question, ground, { weights, most });
    return strategy === "bm25"
      ? rankByKeywords(question, ground, { most })
      : rankByWords(question, ground, { most });
  }

  async #senseFor(vectors: Vectors | undefined): Promise<Sense | undefined> {
    const load = this.#parts.loadWords ?? loadWordTable;
    this.#meaning ??= load().then((table) => table && new Meaning(table, this.#collection));
    const builtIn = await this.#meaning;
    const borrowed = vectors && this.#borrowed?.senseOf(vectors, builtIn);
    if (borrowed) return borrowed;
    await this.#catchUp(builtIn);
    return builtIn;
  }

  async #catchUp(meaning: Meaning | undefined): Promise<void> {
    if (meaning) await this.#inSlices(meaning.catchUp());
  }

  /** Runs to the end, letting everything else have its turn whenever enough has been done. */
  async #inSlices(work: Generator<number>): Promise<void> {
    for (const cost of work) {
      this.#spent += cost;
      if (this.#spent < SLICE) continue;
      this.#spent = 0;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

function isWord(word: string, sense: Sense | undefined): boolean {
  return sense ? sense.isWord(word) : word.length < SHORTEST_GUESS;
}
