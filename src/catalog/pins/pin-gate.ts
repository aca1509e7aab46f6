/**
 * Compares every new tool list with the approved tools before the catalog publishes it, and blocks unapproved
 * tools if that is enforced. Loads the comparing modules with the first list.
 */
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker, ListKey, ListSource } from "../../kernel/list-key.ts";
import type { Gate, JudgedList } from "../gate.ts";
import type { NamedList } from "../signs/context.ts";
import type { Snapshot } from "../snapshot.ts";
import {
  itemKey,
  NOTHING_CHANGED,
  PINNED_KINDS,
  type PinnedKind,
  type Review,
  type ToolChange,
} from "./change.ts";
import type { Pinnable } from "./fingerprint.ts";
import type { PinStorage } from "./pin-storage.ts";
import type { Pins, PinsParts, ReviewedList } from "./pins.ts";
import type { ReviewedPlace } from "./reviewed-signs.ts";
import type { ItemForm, ItemSigns, SignBook } from "./sign-book.ts";

/** How often is checked for approvals by another process. This runs only while something is unapproved. */
const POLL_MS = 500;
const LAST_WRITES_MS = 2_000;

export interface PinGateParts extends Omit<PinsParts, "signContext"> {
  readonly clock: Clock;
  readonly home: string;
  /** Default: files in `home`. */
  readonly storage?: PinStorage | undefined;
  /** The list key of the lists that this client sees of the server; undefined if it sees none. */
  readonly keyFor: (server: ServerId, asker: Asker) => ListKey | undefined;
  /** What is visible, and the tools of all servers with the names that clients know. */
  readonly snapshot: () => Snapshot;
  readonly lists: () => Iterable<NamedList>;
  /** Replaces the blocked items of this list. */
  readonly setBlocked: (from: ListSource, list: BlockedOf, blocked: ReadonlySet<string>) => void;
}

/** A list as it was compared. */
export interface BlockedOf {
  readonly of: PinnedKind;
  readonly items: readonly Pinnable[];
}

interface ComparedList {
  readonly list: ReviewedList;
  review: Review;
  /** The stamp of the stored tools before they were read. */
  stamp: string;
}

export class PinGate implements Gate {
  readonly enforced: boolean;
  readonly #parts: PinGateParts;
  /** The last list of each server and key that arrived, and the last one that was compared. */
  readonly #newest = new Map<string, ComparedList>();
  readonly #compared = new Map<string, ComparedList>();
  readonly #pending = new Set<Promise<unknown>>();
  #book: Promise<SignBook> | undefined;
  #pins: Promise<{ pins: Pins; storage: PinStorage }> | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(parts: PinGateParts) {
    this.#parts = parts;
    this.enforced = parts.enforced;
  }

  /** The result of the last comparison, for the list that this client sees or for all lists of the server. */
  review(server: ServerId, asker?: Asker): Review {
    const key = asker && this.#parts.keyFor(server, asker);
    if (asker && key === undefined) return NOTHING_CHANGED;
    if (key === undefined) return merged(this.#listsOf(server).map(({ review }) => review));
    const lists = PINNED_KINDS.map((of) => this.#compared.get(idOf({ server, key, of })));
    return merged(lists.flatMap((compared) => (compared ? [compared.review] : [])));
  }

  /** The signs of what needs no approval, and that nobody has reviewed. */
  async signs(server: ServerId): Promise<readonly ItemSigns[]> {
    const all = await (await this.#signBook()).of(server, this.#parts.snapshot(), this.#parts.lists());
    const { changes, reviewed = [] } = this.review(server);
    const known = new Set([...reviewed, ...changes.map(({ of, tool }) => itemKey(of, tool))]);
    const needless = all.filter(({ of, name }) => !known.has(itemKey(of, name)));
    if (needless.length === 0) return [];
    const { reviewedForms } = await import("./reviewed-signs.ts");
    // What cannot be read is said by the review.
    const isReviewed = await reviewedForms(await this.#placeOf(server)).catch(() => () => false);
    return needless.filter((item) => !isReviewed(item));
  }

  /** Takes what needs no approval as reviewed in this form. Rejects if it has signs in another form now. */
  async approveSigns(server: ServerId, chosen: readonly ItemForm[]): Promise<void> {
    if (chosen.length === 0) return;
    const current = await this.signs(server);
    const isCurrent = ({ of, name, form }: ItemForm): boolean =>
      current.some((one) => one.of === of && one.name === name && one.form === form);
    if (!chosen.every(isCurrent)) throw changedMeanwhile(server);
    const { storeReviewed } = await import("./reviewed-signs.ts");
    const all = await (await this.#signBook()).of(server, this.#parts.snapshot(), this.#parts.lists());
    await storeReviewed(await this.#placeOf(server), chosen, all);
  }

  async #placeOf(server: ServerId): Promise<ReviewedPlace> {
    const { storage } = await this.#load();
    const tools = this.#listsOf(server).find(({ list }) => list.of === "tools");
    return { storage, server, identity: tools?.list.identity ?? server };
  }

  #signBook(): Promise<SignBook> {
    this.#book ??= import("./sign-book.ts").then((module) => new module.SignBook());
    return this.#book;
  }

  /** Resolves when every list that arrived has been compared and stored. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** The catalog waits for the result only if blocking is enforced. */
  judge(from: ListSource, list: JudgedList): Promise<ReadonlySet<string>> | undefined {
    const compared: ComparedList = { list: { ...from, ...list }, review: NOTHING_CHANGED, stamp: "" };
    this.#newest.set(idOf(compared.list), compared);
    const blocked = this.#track(this.#judge(compared));
    return this.enforced ? blocked : undefined;
  }

  forget(server: ServerId): void {
    for (const lists of [this.#newest, this.#compared])
      for (const [id, { list }] of lists) if (list.server === server) lists.delete(id);
  }

  /**
   * Approves the chosen changes (default: all) for every list key. Rejects if they changed since the review
   * `seen`.
   */
  async approve(
    server: ServerId,
    seen: Review,
    isChosen: (change: ToolChange) => boolean = () => true,
  ): Promise<void> {
    await this.settled();
    if (!sameReview(this.review(server), seen)) throw changedMeanwhile(server);
    const { pins } = await this.#load();
    for (const compared of this.#listsOf(server)) {
      const chosen = compared.review.changes.filter((change) => isChosen(change));
      if (chosen.length === 0) continue;
      await pins.approve(compared.list, new Set(chosen.map(({ tool }) => tool)));
      await this.#compareAgain(compared);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    // A store that hangs must not hold the stop.
    await isDoneWithin(this.#parts.clock, LAST_WRITES_MS, this.settled());
  }

  /** Ignores the result if a newer list arrived meanwhile. */
  async #judge(compared: ComparedList): Promise<ReadonlySet<string>> {
    await this.#compare(compared);
    const id = idOf(compared.list);
    if (this.#newest.get(id) === compared) this.#compared.set(id, compared);
    this.#schedulePoll();
    return blockedBy(compared.review);
  }

  async #compare(compared: ComparedList): Promise<void> {
    const { pins, storage } = await this.#load();
    const { list } = compared;
    compared.stamp = await storage.stamp(list.server);
    compared.review = await pins.compare(list).catch((error: unknown) => this.#failed(list, error));
    // Without changes they are not needed any more, and the list may stay in memory for long.
    if (compared.review.changes.length > 0) return;
    delete list.fingerprints;
    delete list.signs;
  }

  /** A list that could not be compared counts as not approved. */
  #failed({ of, server, items }: ReviewedList, error: unknown): Review {
    this.#parts.log.error(`${server}: its tools could not be compared with the approved ones`, {
      server,
      error,
    });
    const unknown = { of, kind: "unknown", parts: [], after: "", signs: [] } as const;
    const changes = items.map(({ name: tool }) => ({ ...unknown, tool }));
    return { changes, removed: [], fault: `Its tools could not be compared: ${(error as Error).message}` };
  }

  async #compareAgain(compared: ComparedList): Promise<void> {
    await this.#compare(compared);
    const { list } = compared;
    if (this.enforced && this.#compared.get(idOf(list)) === compared)
      this.#parts.setBlocked(list, list, blockedBy(compared.review));
  }

  #listsOf(server: ServerId): readonly ComparedList[] {
    return [...this.#compared.values()].filter(({ list }) => list.server === server);
  }

  #schedulePoll(): void {
    const unapproved = [...this.#compared.values()].some(({ review }) => review.changes.length > 0);
    if (this.#timer || this.#closed || !unapproved) return;
    this.#timer = this.#parts.clock.after(POLL_MS, () => void this.#track(this.#poll()));
  }

  async #poll(): Promise<void> {
    const { storage } = await this.#load();
    for (const compared of this.#compared.values()) {
      if (compared.review.changes.length === 0) continue;
      const stamp = await storage.stamp(compared.list.server);
      if (stamp !== compared.stamp) await this.#compareAgain(compared);
    }
    this.#timer = undefined;
    this.#schedulePoll();
  }

  #load(): Promise<{ pins: Pins; storage: PinStorage }> {
    const { home, storage, lists } = this.#parts;
    this.#pins ??= Promise.all([
      import("./pins.ts"),
      import("./pin-storage.ts"),
      import("../signs/context.ts"),
    ]).then(([{ Pins }, { PinFiles }, { signContext }]) => {
      const used = storage ?? new PinFiles(home);
      const context: PinsParts["signContext"] = (server, listed) => signContext(server, lists(), listed);
      return { pins: new Pins(used, { ...this.#parts, signContext: context }), storage: used };
    });
    return this.#pins;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const done = (): void => void this.#pending.delete(work);
    work.then(done, done);
    return work;
  }
}

function changedMeanwhile(server: ServerId): MetaMcpError {
  const text = `The tools of ${server} changed in the meantime: review them again.`;
  return new MetaMcpError("forbidden", text, { server });
}

function idOf({ server, key, of }: Pick<ReviewedList, "server" | "key" | "of">): string {
  return JSON.stringify([server, key, of]);
}

/** Merges the reviews of several list keys; equal changes appear once. */
function merged(reviews: readonly Review[]): Review {
  const changes = new Map<string, ToolChange>();
  for (const change of reviews.flatMap((review) => review.changes)) changes.set(idOfChange(change), change);
  const removed = new Set(reviews.flatMap((review) => review.removed));
  const fault = reviews.find((review) => review.fault !== undefined)?.fault;
  const reviewed = [...new Set(reviews.flatMap((review) => review.reviewed ?? []))];
  return {
    changes: [...changes.values()],
    removed: [...removed],
    reviewed,
    ...(fault !== undefined && { fault }),
  };
}

function sameReview(a: Review, b: Review): boolean {
  const summary = ({ changes }: Review): string => changes.map(idOfChange).toSorted().join();
  return summary(a) === summary(b);
}

/** Two changes of one name and form are the same for whoever approves. */
function idOfChange({ of, tool, after }: ToolChange): string {
  return JSON.stringify([of, tool, after]);
}

function blockedBy({ changes }: Review): ReadonlySet<string> {
  return new Set(changes.map(({ tool }) => tool));
}
