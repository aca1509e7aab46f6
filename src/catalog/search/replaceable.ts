/**
 * A search whose strategy can be replaced while it is in use. Keeps the tools of all servers to pass them to
 * the next strategy.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import type { Hit, SearchOptions, SearchStrategy, ServerText } from "./strategy.ts";

export class ReplaceableSearch implements SearchStrategy {
  #current: SearchStrategy;
  readonly #servers = new Map<ServerId, readonly [tools: readonly Tool[], text: ServerText | undefined]>();

  constructor(first: SearchStrategy) {
    this.#current = first;
  }

  get mostShown(): number {
    return this.#current.mostShown ?? Number.POSITIVE_INFINITY;
  }

  /** The next searches use `next`. Running ones finish with the strategy that they began with. */
  replace(next: SearchStrategy): void {
    this.#current = next;
    for (const [server, known] of this.#servers) next.update(server, ...known);
  }

  update(server: ServerId, tools: readonly Tool[], text?: ServerText): void {
    this.#servers.set(server, [tools, text]);
    this.#current.update(server, tools, text);
  }

  remove(server: ServerId): void {
    this.#servers.delete(server);
    this.#current.remove(server);
  }

  async search(query: string, options: SearchOptions): Promise<readonly Hit[]> {
    return await this.#current.search(query, options);
  }
}
