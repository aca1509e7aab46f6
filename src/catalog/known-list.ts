/**
 * The state of a server's lists for one list key. Sends no requests. A changed server gets new objects, so
 * that late answers of the old one are ignored.
 */
import { Sequencer } from "../kernel/sequencer.ts";
import type { About } from "./about.ts";
import { ITEM_KINDS, type ItemKind, type Items } from "./item.ts";
import type { PinnedKind } from "./pins/change.ts";
import type { IndexedListing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export type ListedKind = "tools" | ItemKind;
export const LISTED_KINDS: readonly ListedKind[] = ["tools", ...ITEM_KINDS];

/** Names of prompts, and whether the instructions too, that clients do not get until they are approved. */
export interface HeldTexts {
  readonly prompts: ReadonlySet<string>;
  readonly instructions: boolean;
}

const NOTHING_HELD: HeldTexts = { prompts: new Set(), instructions: false };

interface ToolList {
  readonly tools: readonly Tool[];
  readonly about: About;
  /** Names of tools that clients neither see nor call until they are approved. */
  readonly blocked: ReadonlySet<string>;
}

/** Numbers of refreshes of one list: the last that started, and the newest that was applied. */
interface RefreshNumbers {
  started: number;
  applied: number;
}

export class KnownList {
  /** Before the config rules are applied. */
  toolList: ToolList | undefined;
  items: Items = {};
  held = NOTHING_HELD;
  /** The kinds that the gate was asked about. */
  readonly judged = new Set<PinnedKind>();
  /** True if the list came from a connected child in this process, false if it came from the disk cache. */
  live = false;
  /** Why the last attempt to list failed. */
  fault: string | undefined;
  /** What was wrong with the lists that were read last. */
  readonly problems = new Map<ListedKind, readonly string[]>();
  /** The part that clients of this key see, and the same as clients of other keys see it. */
  visible: IndexedListing | undefined;
  unconfirmed: IndexedListing | undefined;
  readonly queue = new Sequencer();
  readonly #refreshes: Readonly<Record<ListedKind, RefreshNumbers>> = {
    tools: { started: 0, applied: 0 },
    prompts: { started: 0, applied: 0 },
    resources: { started: 0, applied: 0 },
    templates: { started: 0, applied: 0 },
    skills: { started: 0, applied: 0 },
  };

  /** Returns the number of the new refresh. */
  startRefresh(kind: ListedKind): number {
    return ++this.#refreshes[kind].started;
  }

  /** Returns false if a refresh that started later was applied before. */
  acceptRefresh(kind: ListedKind, refresh: number): boolean {
    const numbers = this.#refreshes[kind];
    if (refresh < numbers.applied) return false;
    numbers.applied = refresh;
    return true;
  }
}
