/**
 * The search index of all endpoints. Each tool is indexed once with the texts of its server. A tool with
 * overridden texts is indexed again, once for all clients that see it that way.
 */
import type { SearchStrategy, ServerText } from "../../catalog/search/strategy.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Compiled } from "../compile.ts";
import type { ServerView } from "../view/server-view.ts";
import type { View } from "../view/views.ts";

/** Does not occur in uuids and hashes. */
const SEPARATOR = "/";
/**
 * Maximum number of indexed lists that belong to a single account. Others are indexed again when they are
 * searched.
 */
const MAX_OWN = 256;

export class OverrideSearch {
  readonly strategy: SearchStrategy;
  /** The indexed tools by id. The most recently searched entry is last. */
  readonly #held = new Map<string, readonly Tool[]>();

  constructor(strategy: SearchStrategy) {
    this.strategy = strategy;
  }

  /** Indexes the tools of this view. */
  hold(view: View): void {
    for (const server of view.servers.values()) {
      const { changed: id } = server.searchIds;
      if (server.changed.length > 0 || this.#held.has(id)) this.#update(id, server);
    }
    const own = [...this.#held.keys()].filter(isOwn);
    for (const id of own.slice(0, Math.max(0, own.length - MAX_OWN))) this.#remove(id);
  }

  /** Removes entries that no existing part uses. */
  keep({ namespaces }: Pick<Compiled, "namespaces">): void {
    const parts = [...namespaces.values()].flatMap((namespace) => namespace.parts);
    const wanted = new Set(parts.map(({ server, key }) => `${server}${SEPARATOR}${key}`));
    for (const id of this.#held.keys()) {
      const [server = "", ...rest] = id.split(SEPARATOR);
      if (!wanted.has(`${server}${SEPARATOR}${rest.at(-1)}`)) this.#remove(id);
    }
  }

  #update(id: string, server: ServerView): void {
    const { changed } = server;
    const known = this.#held.get(id);
    this.#held.delete(id);
    this.#held.set(id, changed);
    if (known !== changed) this.strategy.update(id, changed, textOf(server));
  }

  #remove(id: string): void {
    this.#held.delete(id);
    this.strategy.remove(id);
  }
}

/** An id of a single account consists of server, list and part. A shared id has no list. */
function isOwn(id: string): boolean {
  return id.split(SEPARATOR).length > 2;
}

function textOf({ part, listing }: ServerView): ServerText {
  const { title, instructions } = listing?.about ?? {};
  return {
    name: part.name,
    ...(title === undefined ? {} : { title }),
    ...(instructions === undefined ? {} : { description: instructions }),
  };
}
