/** The search over all tools: takes updates in slices, answers in between, and loads word vectors when first asked. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import { Collection } from "./collection.ts";
import { CALLED_BY_NAME, confidenceOf, RIVALS, type Signs, signsOf } from "./confidence.ts";
import { isNamed } from "./detail.ts";
import { Meaning } from "./meaning.ts";
import { LONGEST_QUESTION, readQuestion } from "./question.ts";
import { rank, rankByKeywords } from "./rank.ts";
import { MEASURED, type SearchSettings } from "./settings.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";
import { viewOf } from "./view.ts";
import { loadWordTable } from "./word-table.ts";
import { contentWords } from "./words.ts";
import { Workspace } from "./workspace.ts";

export interface SearchParts {
  /** Sees what the confidence of each hit is made of; for calibration. */
  readonly onSigns?: (signs: readonly Signs[]) => void;
}

export function createSearch(settings: SearchSettings = MEASURED, parts: SearchParts = {}): SearchStrategy {
  return new Search(settings, parts);
}

/** Characters read between two pauses: a few milliseconds. */
const SLICE = 60_000;

class Search implements SearchStrategy {
  readonly #settings: SearchSettings;
  readonly #parts: SearchParts;
  readonly #collection: Collection;
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
  }

  update(server: ServerId, tools: readonly Tool[], text: ServerText = {}): void {
    this.#tail = this.#tail.then(() => this.#inSlices(this.#collection.replace({ server, tools, text })));
  }

  remove(server: ServerId): void {
    this.#tail = this.#tail.then(() => this.#collection.remove(server));
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    const answer = this.#tail.then(() => this.#answer(query, options));
    this.#tail = answer.then(
      () => {},
      () => {},
    );
    return await answer;
  }

  async #answer(query: string, { limit, scope }: SearchOptions): Promise<Hit[]> {
    const collection = this.#collection;
    const view = viewOf(collection, scope);
    if (contentWords(query.slice(0, LONGEST_QUESTION)).length === 0) return [];
    const sense = this.#settings.strategy === "hybrid" ? await this.#load() : undefined;
    if (sense) await this.#inSlices(sense.catchUp());
    const question = readQuestion(query, collection, view, (word) => sense?.isWord(word) ?? false);
    this.#workspace.reset();
    const ground = { collection, view, workspace: this.#workspace, sense };
    const ranked =
      this.#settings.strategy === "hybrid"
        ? rank(question, ground, this.#settings.evidence)
        : rankByKeywords(question, ground);
    const most = Math.max(0, Math.min(limit, this.#settings.maxResults));
    const shown = ranked.slice(0, Math.max(RIVALS, most));
    const signs = signsOf(question, ground, shown);
    this.#parts.onSigns?.(signs);
    return shown.slice(0, most).map(({ slot, score }, i) => ({
      server: collection.at(slot)?.segment.server ?? "",
      name: collection.nameOf(slot),
      score,
      confidence: isNamed(question, collection, slot) ? CALLED_BY_NAME : confidenceOf(signs[i] as Signs),
    }));
  }

  #load(): Promise<Meaning | undefined> {
    this.#meaning ??= loadWordTable().then((table) => table && new Meaning(table, this.#collection));
    return this.#meaning;
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
