/**
 * What a server said to have over one connection key. Asks nobody. Replaced with its server when that becomes another
 * one, so that late answers for the old one find nobody.
 */
import type { About } from "./about.ts";
import type { ItemKind, Items } from "./item.ts";
import type { IndexedListing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export type ListedKind = "tools" | ItemKind;

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

export class KnownList {
  /** Before the rules. */
  list: ToolList | undefined;
  items: Items = {};
  /** It said so itself, and not only the disk cache. */
  live = false;
  /** Why it could not be listed when that was last tried. */
  fault: string | undefined;
  /** What can be seen of it, and the same as clients of other keys are shown it. */
  shown: IndexedListing | undefined;
  lent: IndexedListing | undefined;
  #taking: Promise<void> = Promise.resolve();
  readonly #turns: Readonly<Record<ListedKind, Turns>> = {
    tools: { begun: 0, taken: 0 },
    prompts: { begun: 0, taken: 0 },
    resources: { begun: 0, taken: 0 },
    templates: { begun: 0, taken: 0 },
  };

  /** A refresh of that list begins; its number. */
  begin(kind: ListedKind): number {
    return ++this.#turns[kind].begun;
  }

  /** Whether this refresh is to be taken over: not if one that was asked later was quicker. */
  takes(kind: ListedKind, turn: number): boolean {
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
}
