/**
 * Keeps per-account tool lists in the search index. Equal lists are indexed once and removed with their last
 * account.
 */
import type { ServerId } from "../kernel/call.ts";
import type { KnownServer } from "./known-server.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import { searchId } from "./search-id.ts";
import { serverText } from "./server-text.ts";

export class AccountSearch {
  readonly #strategy: Pick<SearchStrategy, "update" | "remove">;
  readonly #idsOf = new Map<KnownServer, ReadonlySet<string>>();
  /** By search id: the server of the list, and the number of accounts that have it. */
  readonly #uses = new Map<string, { readonly server: ServerId; count: number }>();

  constructor(strategy: Pick<SearchStrategy, "update" | "remove">) {
    this.#strategy = strategy;
  }

  /** Undefined for lists that all accounts share. */
  serverOf(id: string): ServerId | undefined {
    return this.#uses.get(id)?.server;
  }

  update(server: ServerId, known: KnownServer): void {
    const before = this.#idsOf.get(known) ?? new Set();
    const lists = new Map(known.listings.map((listing) => [searchId(server, listing), listing]));
    this.#idsOf.set(known, new Set(lists.keys()));
    for (const [id, { tools, about }] of lists) {
      if (before.has(id)) continue;
      const use = this.#uses.get(id);
      if (use) use.count += 1;
      else {
        this.#uses.set(id, { server, count: 1 });
        this.#strategy.update(id, tools, serverText(about));
      }
    }
    for (const id of before) if (!lists.has(id)) this.#release(id);
  }

  remove(known: KnownServer): void {
    for (const id of this.#idsOf.get(known) ?? []) this.#release(id);
    this.#idsOf.delete(known);
  }

  #release(id: string): void {
    const use = this.#uses.get(id);
    if (!use) return;
    use.count -= 1;
    if (use.count > 0) return;
    this.#uses.delete(id);
    this.#strategy.remove(id);
  }
}
