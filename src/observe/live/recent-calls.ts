/** The last calls, in memory, each with its way through the layers. */
import type { LayerStep } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import { asRaw, type Raw } from "../../kernel/raw.ts";
import type { CallRow } from "../call-row.ts";

export interface RecentCall extends CallRow {
  readonly id: number;
  readonly layers: readonly LayerStep[];
}

export interface KeptCall extends RecentCall {
  /** As they left the pipeline; undefined where they were too large to keep, or never left it. */
  readonly sent: Raw | undefined;
}

/**
 * A place for one call, used again and again: what is made for each call and lives on is copied by the garbage collection
 * until it is old, and that costs more than all else here. What is shown of it is made when somebody looks.
 */
interface Place {
  id: number;
  row: CallRow;
  way: Way;
  /** What each step of the way took; behind those stand others of earlier calls. */
  readonly ms: number[];
  /** The first `sentBytes` of it are its arguments, as they left the pipeline; -1: none are kept. */
  sent: Buffer;
  sentBytes: number;
}

/** One for all calls in a row that went the same. */
type Way = readonly Omit<LayerStep, "ms">[];

const MOST_CALLS = 1_000;
/** Of one call; longer ones are told by their size. */
const LARGEST_ARGUMENTS = 4_096;

export class RecentCalls {
  readonly #ring: Place[] = [];
  #next = 0;
  #way: Way = [];

  add(row: CallRow, { id, trail }: CallEnded): void {
    const { layers } = trail;
    if (!isWay(this.#way, layers)) this.#way = layers.map(({ use, outcome }) => ({ use, outcome }));
    const way = this.#way;
    this.#ring[this.#next] ??= { id, row, way, ms: [], sent: Buffer.alloc(0), sentBytes: -1 };
    const place = this.#ring[this.#next] as Place;
    place.id = id;
    place.row = row;
    place.way = way;
    for (let at = 0; at < layers.length; at++) place.ms[at] = (layers[at] as LayerStep).ms;
    keepSent(place, trail.arguments);
    this.#next = (this.#next + 1) % MOST_CALLS;
  }

  /** Newest first. */
  *list(): Iterable<KeptCall> {
    const { length } = this.#ring;
    for (let back = 1; back <= length; back++) {
      yield shown(this.#ring[(this.#next - back + length) % length] as Place);
    }
  }

  get(id: number): KeptCall | undefined {
    const found = this.#ring.find((place) => place.id === id);
    return found && shown(found);
  }
}

function isWay(way: Way, layers: readonly LayerStep[]): boolean {
  if (way.length !== layers.length) return false;
  return layers.every(({ use, outcome }, at) => way[at]?.use === use && way[at].outcome === outcome);
}

function keepSent(place: Place, sent: Raw | undefined): void {
  place.sentBytes = sent && sent.length <= LARGEST_ARGUMENTS ? sent.length : -1;
  if (!sent || place.sentBytes < 0) return;
  if (place.sent.length < sent.length) place.sent = Buffer.allocUnsafeSlow(2 * sent.length);
  sent.copy(place.sent);
}

function shown({ id, row, way, ms, sent, sentBytes }: Place): KeptCall {
  return {
    id,
    ...row,
    layers: way.map(({ use, outcome }, at) => ({ use, ms: rounded(ms[at] ?? 0), outcome })),
    sent: sentBytes < 0 ? undefined : asRaw(Buffer.from(sent.subarray(0, sentBytes))),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
