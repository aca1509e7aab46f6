/** A search strategy in which servers have ids, but are also found by the words of their names. */
import type { SearchStrategy, ServerText } from "../../catalog/search/strategy.ts";
import type { Tool } from "../../catalog/tool.ts";

interface Known {
  readonly tools: readonly Tool[];
  readonly text: ServerText | undefined;
  readonly name: string | undefined;
}

export class NamedSearch implements SearchStrategy {
  readonly #strategy: SearchStrategy;
  readonly #nameOf: (server: string) => string | undefined;
  readonly #known = new Map<string, Known>();
  readonly mostShown?: number;

  constructor(strategy: SearchStrategy, nameOf: (server: string) => string | undefined) {
    this.#strategy = strategy;
    this.#nameOf = nameOf;
    if (strategy.mostShown !== undefined) this.mostShown = strategy.mostShown;
  }

  update(server: string, tools: readonly Tool[], text?: ServerText): void {
    const name = this.#nameOf(server);
    this.#known.set(server, { tools, text, name });
    this.#strategy.update(server, tools, { ...(name === undefined ? {} : { name }), ...text });
  }

  remove(server: string): void {
    this.#known.delete(server);
    this.#strategy.remove(server);
  }

  search(...asked: Parameters<SearchStrategy["search"]>): ReturnType<SearchStrategy["search"]> {
    return this.#strategy.search(...asked);
  }

  /** Indexes servers again whose name changed. */
  renamed(): void {
    for (const [server, { tools, text, name }] of this.#known)
      if (name !== this.#nameOf(server)) this.update(server, tools, text);
  }
}
