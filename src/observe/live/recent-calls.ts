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
  /** The first `layers` of them are the call's. */
  readonly steps: Step[];
  layers: number;
  /** The first `sentBytes` of it are its arguments, as they left the pipeline; -1: none are kept. */
  sent: Buffer;
  sentBytes: number;
}

interface Step extends LayerStep {
  use: string;
  ms: number;
  outcome: LayerStep["outcome"];
}

const MOST_CALLS = 1_000;
/** Of one call; longer ones are told by their size. */
const LARGEST_ARGUMENTS = 4_096;

export class RecentCalls {
  readonly #ring: Place[] = [];
  #next = 0;

  add(row: CallRow, { id, trail }: CallEnded): void {
    this.#ring[this.#next] ??= { id, row, steps: [], layers: 0, sent: Buffer.alloc(0), sentBytes: -1 };
    const place = this.#ring[this.#next] as Place;
    place.id = id;
    place.row = row;
    keepLayers(place, trail.layers);
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

function keepLayers(place: Place, layers: readonly LayerStep[]): void {
  place.layers = layers.length;
  for (let at = 0; at < layers.length; at++) {
    const { use, ms, outcome } = layers[at] as LayerStep;
    const step = place.steps[at];
    if (step) {
      step.use = use;
      step.ms = ms;
      step.outcome = outcome;
    } else place.steps.push({ use, ms, outcome });
  }
}

function keepSent(place: Place, sent: Raw | undefined): void {
  place.sentBytes = sent && sent.length <= LARGEST_ARGUMENTS ? sent.length : -1;
  if (!sent || place.sentBytes < 0) return;
  if (place.sent.length < sent.length) place.sent = Buffer.allocUnsafeSlow(2 * sent.length);
  sent.copy(place.sent);
}

function shown({ id, row, steps, layers, sent, sentBytes }: Place): KeptCall {
  return {
    id,
    ...row,
    layers: steps.slice(0, layers).map(({ use, ms, outcome }) => ({ use, ms: rounded(ms), outcome })),
    sent: sentBytes < 0 ? undefined : asRaw(Buffer.from(sent.subarray(0, sentBytes))),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
