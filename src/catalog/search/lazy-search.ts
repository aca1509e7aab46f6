/**
 * A search whose code loads with the first tools or the first question, because it is a large part of the
 * program.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import type { SearchSetUp } from "./set-up.ts";
import { settingsWith } from "./settings.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";

export class LazySearch implements SearchStrategy {
  readonly mostShown: number;
  readonly #setUp: SearchSetUp;
  #loaded: Promise<SearchStrategy> | undefined;

  constructor(setUp: SearchSetUp) {
    this.#setUp = setUp;
    this.mostShown = settingsWith(setUp.settings ?? {}).maxResults;
  }

  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void {
    this.#change((search) => search.update(server, tools, text));
  }

  remove(server: ServerId): void {
    this.#change((search) => search.remove(server));
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    return await (await this.#load()).search(query, options);
  }

  /**
   * In the order of the calls, because all wait for the same promise. If it cannot be loaded, the next
   * question says so.
   */
  #change(change: (search: SearchStrategy) => void): void {
    this.#load().then(change, () => {});
  }

  #load(): Promise<SearchStrategy> {
    this.#loaded ??= import("./set-up.ts").then(({ setUpSearch }) => setUpSearch(this.#setUp));
    return this.#loaded;
  }
}
