/** Stands between the lists of the servers and the catalog: what the user has not approved is known here, and held back where it must be. Loads the comparison when the first list comes. */
import { stat } from "node:fs/promises";
import type { ServerId } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker, ListKey, ListSource } from "../../kernel/list-key.ts";
import type { Gate, JudgedList } from "../gate.ts";
import type { Tool } from "../tool.ts";
import { NOTHING_CHANGED, type Review, type ToolChange } from "./change.ts";
import type { Pins, PinsParts, Subject } from "./pins.ts";

/** How soon an approval by someone else is noticed; looked for only while there is something to approve. */
const LOOK_MS = 500;

export interface PinGateParts extends PinsParts {
  readonly clock: Clock;
  /** Over which key the lists of a server come that somebody sees; undefined where they see none. */
  readonly keyFor: (server: ServerId, asker: Asker) => ListKey | undefined;
  /** Of this list these are held back from now on. */
  readonly hold: (from: ListSource, tools: readonly Tool[], held: ReadonlySet<string>) => void;
}

interface Known {
  readonly subject: Subject;
  review: Review;
  /** The file as it was before it was read. */
  mark: string;
}

export class PinGate implements Gate {
  readonly enforced: boolean;
  readonly #parts: PinGateParts;
  /** The last list that came of each server over each key; and the last that was compared. */
  readonly #newest = new Map<string, Known>();
  readonly #known = new Map<string, Known>();
  readonly #underWay = new Set<Promise<unknown>>();
  #pins: Promise<{ pins: Pins; pathOf: (server: ServerId) => string }> | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(parts: PinGateParts) {
    this.#parts = parts;
    this.enforced = parts.enforced;
  }

  /** As far as it was compared yet: what a client is shown of the server, or all that anyone is. */
  review(server: ServerId, asker?: Asker): Review {
    const key = asker && this.#parts.keyFor(server, asker);
    if (asker && key === undefined) return NOTHING_CHANGED;
    if (key !== undefined) return this.#known.get(idOf({ server, key }))?.review ?? NOTHING_CHANGED;
    return joined(this.#of(server).map(({ review }) => review));
  }

  /** Resolves when every list that came was compared, and what is to be kept is kept. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Only where it is enforced anybody waits for it. */
  judge(from: ListSource, list: JudgedList): Promise<ReadonlySet<string>> | undefined {
    const known: Known = { subject: { ...from, ...list }, review: NOTHING_CHANGED, mark: "" };
    this.#newest.set(idOf(from), known);
    const held = this.#track(this.#judged(known));
    return this.enforced ? held : undefined;
  }

  forget(server: ServerId): void {
    for (const lists of [this.#newest, this.#known])
      for (const [id, { subject }] of lists) if (subject.server === server) lists.delete(id);
  }

  /** Approves tools as they were when this was seen of them, over every key; all unless named. */
  async approve(server: ServerId, seen: Review, names?: ReadonlySet<string>): Promise<void> {
    await this.settled();
    if (!sameReview(this.review(server), seen))
      throw new MetaMcpError(
        "forbidden",
        `The tools of ${server} changed in the meantime: review them again.`,
        {
          server,
        },
      );
    const { pins } = await this.#load();
    for (const known of this.#of(server)) {
      if (known.review.changes.length === 0) continue;
      await pins.approve(known.subject, names);
      await this.#again(known);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.settled();
  }

  /** What was known of an earlier list holds until this one is compared, unless a later one was quicker. */
  async #judged(known: Known): Promise<ReadonlySet<string>> {
    await this.#compare(known);
    const id = idOf(known.subject);
    if (this.#newest.get(id) === known) this.#known.set(id, known);
    this.#lookLater();
    return heldBy(known.review);
  }

  async #compare(known: Known): Promise<void> {
    const { pins, pathOf } = await this.#load();
    known.mark = await markOf(pathOf(known.subject.server));
    known.review = await pins.compare(known.subject).catch((error: unknown) => this.#uncertain(known, error));
    // A list that is in order may stay for long, and needs nothing of this.
    if (known.review.changes.length === 0) delete known.subject.prints;
  }

  /** Whatever went wrong: what could not be compared is not approved. */
  #uncertain({ subject: { server, tools } }: Known, error: unknown): Review {
    this.#parts.log.error(`${server}: its tools could not be compared with the approved ones`, {
      server,
      error,
    });
    const changes = tools.map(({ name: tool }) => ({ tool, kind: "unknown", parts: [], after: "" }) as const);
    return { changes, removed: [], fault: `Its tools could not be compared: ${(error as Error).message}` };
  }

  async #again(known: Known): Promise<void> {
    await this.#compare(known);
    const { subject } = known;
    if (this.enforced && this.#known.get(idOf(subject)) === known)
      this.#parts.hold(subject, subject.tools, heldBy(known.review));
  }

  #of(server: ServerId): readonly Known[] {
    return [...this.#known.values()].filter(({ subject }) => subject.server === server);
  }

  #lookLater(): void {
    const open = [...this.#known.values()].some(({ review }) => review.changes.length > 0);
    if (this.#timer || this.#closed || !open) return;
    this.#timer = this.#parts.clock.after(LOOK_MS, () => void this.#track(this.#look()));
  }

  async #look(): Promise<void> {
    const { pathOf } = await this.#load();
    for (const known of this.#known.values()) {
      if (known.review.changes.length === 0) continue;
      const mark = await markOf(pathOf(known.subject.server));
      if (mark !== known.mark) await this.#again(known);
    }
    this.#timer = undefined;
    this.#lookLater();
  }

  #load(): Promise<{ pins: Pins; pathOf: (server: ServerId) => string }> {
    const { home } = this.#parts;
    this.#pins ??= import("./pins.ts").then(({ Pins, pinsPath }) => ({
      pins: new Pins(this.#parts),
      pathOf: (server) => pinsPath(home, server),
    }));
    return this.#pins;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = (): void => void this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}

function idOf({ server, key }: ListSource): string {
  return JSON.stringify([server, key]);
}

/** What is the same over several keys is told once. */
function joined(reviews: readonly Review[]): Review {
  const changes = new Map<string, ToolChange>();
  for (const change of reviews.flatMap((review) => review.changes))
    changes.set(JSON.stringify([change.tool, change.after]), change);
  const removed = new Set(reviews.flatMap((review) => review.removed));
  const fault = reviews.find((review) => review.fault !== undefined)?.fault;
  return { changes: [...changes.values()], removed: [...removed], ...(fault !== undefined && { fault }) };
}

function sameReview(a: Review, b: Review): boolean {
  const told = ({ changes }: Review): string =>
    changes
      .map(({ tool, after }) => JSON.stringify([tool, after]))
      .toSorted()
      .join();
  return told(a) === told(b);
}

function heldBy({ changes }: Review): ReadonlySet<string> {
  return new Set(changes.map(({ tool }) => tool));
}

/** Changes whenever the file does: it is only ever replaced. */
async function markOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return "absent";
  }
}
