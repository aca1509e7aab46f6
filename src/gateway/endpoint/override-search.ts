/**
 * The one index of all endpoints. A tool is in it as its server describes it, once; where a namespace describes it
 * otherwise, it is in it a second time, for all who see it so.
 */
import type { SearchStrategy, ServerText } from "../../catalog/search/strategy.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Compiled } from "../compile.ts";
import type { ServerView } from "../view/server-view.ts";
import type { View } from "../view/views.ts";

/** Neither uuids nor hashes have it. */
const SEPARATOR = "/";
/** Lists of single accounts that are kept as namespaces describe them; more are indexed again when they are searched. */
const MOST_OWN = 256;

export class OverrideSearch {
  readonly strategy: SearchStrategy;
  /** By id in the index: what was last given to it. Who was searched last stands last. */
  readonly #held = new Map<string, readonly Tool[]>();

  constructor(strategy: SearchStrategy) {
    this.strategy = strategy;
  }

  /** Makes sure that the tools of this view can be found as it shows them. */
  hold(view: View): void {
    for (const server of view.servers.values()) {
      const { changed: id } = server.searchIds;
      if (server.changed.length > 0 || this.#held.has(id)) this.#update(id, server);
    }
    const own = [...this.#held.keys()].filter(isOwn);
    for (const id of own.slice(0, Math.max(0, own.length - MOST_OWN))) this.#remove(id);
  }

  /** Forgets what no part that is still there shows. */
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

/** Server, list and part; what everybody shares has no list between. */
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
