/**
 * One configured server as the catalog knows it: what it last said to have, and what of that the rules let be seen.
 * Asks nobody. Replaced when its identity changes, so that late answers for the old one find nobody.
 */
import { type About, sameAbout } from "./about.ts";
import { ITEM_KINDS, type ItemKind, type Items } from "./item.ts";
import { sameEntries } from "./same.ts";
import { IndexedListing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export type Kind = "tools" | ItemKind;

interface ToolList {
  readonly tools: readonly Tool[];
  readonly about: About;
  /** Names that nobody is to see or use for now. */
  readonly held: ReadonlySet<string>;
}

/** Numbers of refreshes of one list: the last begun, and the newest that was taken over. */
interface Turns {
  begun: number;
  taken: number;
}

export class KnownServer {
  readonly identity: string;
  permits: (tool: string) => boolean;
  /** Before the rules. */
  list: ToolList | undefined;
  items: Items = {};
  /** It said so itself, and not only the disk cache. */
  live = false;
  /** The disk cache was read, or is being read. */
  lookedUp = false;
  #taking: Promise<void> = Promise.resolve();
  readonly #turns: Readonly<Record<Kind, Turns>> = {
    tools: { begun: 0, taken: 0 },
    prompts: { begun: 0, taken: 0 },
    resources: { begun: 0, taken: 0 },
    templates: { begun: 0, taken: 0 },
  };

  constructor(identity: string, permits: (tool: string) => boolean) {
    this.identity = identity;
    this.permits = permits;
  }

  /** A refresh of that list begins; its number. */
  begin(kind: Kind): number {
    return ++this.#turns[kind].begun;
  }

  /** Whether this refresh is to be taken over: not if one that was asked later was quicker. */
  takes(kind: Kind, turn: number): boolean {
    const turns = this.#turns[kind];
    if (turn < turns.taken) return false;
    turns.taken = turn;
    return true;
  }

  /** Lists are taken over one after the other: who waits for one finds it taken. */
  inTurn(take: () => Promise<void>): Promise<void> {
    const taken = this.#taking.then(take);
    this.#taking = taken.catch(() => {});
    return taken;
  }

  /** What can be seen of it. What is equal is kept, object by object: an unchanged part is the same part. */
  listing(before: IndexedListing | undefined): IndexedListing | undefined {
    if (!this.list) return undefined;
    const { held } = this.list;
    const allowed = this.list.tools.filter(({ name }) => this.permits(name) && !held.has(name));
    const tools = before && sameEntries(before.tools, allowed) ? before.tools : allowed;
    const about = before && sameAbout(before.about, this.list.about) ? before.about : this.list.about;
    const source = this.live ? "live" : "cache";
    const same = before?.tools === tools && before.about === about && before.source === source;
    if (same && ITEM_KINDS.every((kind) => before[kind] === this.items[kind])) return before;
    return new IndexedListing({ tools, about, source, ...this.items });
  }
}
