/** A search whose strategy can be exchanged while it is in use. Remembers what it was told, for whoever comes next. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";

export class ReplaceableSearch implements SearchStrategy {
  #current: SearchStrategy;
  readonly #known = new Map<ServerId, readonly [tools: readonly Tool[], text: ServerText | undefined]>();

  constructor(first: SearchStrategy) {
    this.#current = first;
  }

  get mostShown(): number {
    return this.#current.mostShown ?? Number.POSITIVE_INFINITY;
  }

  /** The next question is for `next`; those under way are answered by the one they were put to. */
  replace(next: SearchStrategy): void {
    this.#current = next;
    for (const [server, told] of this.#known) next.update(server, ...told);
  }

  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void {
    this.#known.set(server, [tools, text]);
    this.#current.update(server, tools, text);
  }

  remove(server: ServerId): void {
    this.#known.delete(server);
    this.#current.remove(server);
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    return await this.#current.search(query, options);
  }
}
