/** The search over all tools: takes updates in slices, answers in between, and loads word vectors when first asked. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import { Collection } from "./collection.ts";
import { Meaning } from "./meaning.ts";
import { readQuestion } from "./question.ts";
import { rank, rankByKeywords } from "./rank.ts";
import { MEASURED, type SearchSettings } from "./settings.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";
import { viewOf } from "./view.ts";
import { loadWordTable } from "./word-table.ts";

export function createSearch(settings: SearchSettings = MEASURED): SearchStrategy {
  return new Search(settings);
}

class Search implements SearchStrategy {
  readonly #settings: SearchSettings;
  readonly #collection: Collection;
  /** Work in its order: a question sees the updates asked for before it, whole, and none of the later ones. */
  #tail: Promise<void> = Promise.resolve();
  #meaning: Promise<Meaning | undefined> | undefined;

  constructor(settings: SearchSettings) {
    this.#settings = settings;
    this.#collection = new Collection(settings);
  }

  update(server: ServerId, tools: readonly Tool[], text: ServerText = {}): void {
    this.#tail = this.#tail.then(() => inSlices(this.#collection.replace({ server, tools, text })));
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
    const meaning = this.#settings.strategy === "hybrid" ? await this.#load() : undefined;
    if (meaning) await inSlices(meaning.catchUp());
    const view = viewOf(this.#collection, scope);
    const question = readQuestion(query, this.#collection, view);
    const most = Math.max(0, Math.min(limit, this.#settings.maxResults));
    const ground = { collection: this.#collection, view, meaning };
    const ranked =
      this.#settings.strategy === "hybrid"
        ? rank(question, ground, this.#settings.evidence)
        : rankByKeywords(question, ground);
    return ranked.slice(0, most).map(({ slot, score }) => ({
      server: this.#collection.at(slot)?.segment.server ?? "",
      name: this.#collection.nameOf(slot),
      score,
      confidence: 0.5,
    }));
  }

  #load(): Promise<Meaning | undefined> {
    this.#meaning ??= loadWordTable().then((table) => table && new Meaning(table, this.#collection));
    return this.#meaning;
  }
}

/** Runs to the end, letting everything else have its turn after each slice. */
async function inSlices(work: Generator<void>): Promise<void> {
  while (work.next().done !== true) await new Promise<void>((resolve) => setImmediate(resolve));
}
