/** The last calls, in memory, each with the layers that it passed. */
import type { LayerStep } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { keptResult } from "../audit/audit-record.ts";
import type { CallRow } from "../call-schema.ts";

export interface RecentCall extends CallRow {
  readonly id: number;
  readonly layers: readonly LayerStep[];
}

export interface CallWithArguments extends RecentCall {
  /**
   * The arguments as they left the pipeline; of a call that did not, as the layers that mask would pass them
   * on. Undefined if they were too large, or are not known in that form.
   */
  readonly sent: Raw | undefined;
  /** Whether no layer judged `sent` to the end. */
  readonly unsent: boolean;
  /** JSON: the result as far as the audit log keeps it; of a failed call at least what the server said. */
  readonly results: string | undefined;
}

/**
 * A reusable slot for one call. New objects for each call would be copied by the garbage collector until they
 * are old, which costs more than everything else here. The object for readers is made when it is requested.
 */
interface Slot {
  id: number;
  row: CallRow;
  path: LayerPath;
  /** Duration of each layer. Entries beyond the length of `path` belong to earlier calls. */
  readonly ms: number[];
  /** The first `sentBytes` bytes are the arguments as they left the pipeline; -1 means none are stored. */
  sent: Buffer;
  sentBytes: number;
  unsent: boolean;
  results: string | undefined;
}

/** Shared by consecutive calls with the same layers and outcomes. */
type LayerPath = readonly Omit<LayerStep, "ms">[];

const MAX_CALLS = 1_000;
/** Larger arguments are not stored. */
const LARGEST_ARGUMENTS = 4_096;

export class RecentCalls {
  readonly #ring: Slot[] = [];
  #next = 0;
  #path: LayerPath = [];

  add(row: CallRow, ended: CallEnded): void {
    const { id, trail, failure } = ended;
    const { layers } = trail;
    if (!isSamePath(this.#path, layers)) this.#path = layers.map(({ use, outcome }) => ({ use, outcome }));
    const path = this.#path;
    this.#ring[this.#next] ??= {
      id,
      row,
      path,
      ms: [],
      sent: Buffer.alloc(0),
      sentBytes: -1,
      unsent: false,
      results: undefined,
    };
    const slot = this.#ring[this.#next] as Slot;
    slot.id = id;
    slot.row = row;
    slot.path = path;
    for (let at = 0; at < layers.length; at++) slot.ms[at] = (layers[at] as LayerStep).ms;
    slot.unsent = row.outcome === "refused" || !trail.arguments;
    storeArguments(slot, trail.arguments ?? failure?.arguments);
    slot.results = failure || trail.keep ? keptResult(ended) : undefined;
    this.#next = (this.#next + 1) % MAX_CALLS;
  }

  /** Newest first. */
  *list(): Iterable<CallWithArguments> {
    const { length } = this.#ring;
    for (let back = 1; back <= length; back++) {
      yield shown(this.#ring[(this.#next - back + length) % length] as Slot);
    }
  }

  get(id: number): CallWithArguments | undefined {
    const found = this.#ring.find((slot) => slot.id === id);
    return found && shown(found);
  }
}

function isSamePath(path: LayerPath, layers: readonly LayerStep[]): boolean {
  if (path.length !== layers.length) return false;
  return layers.every(({ use, outcome }, at) => path[at]?.use === use && path[at].outcome === outcome);
}

function storeArguments(slot: Slot, sent: Raw | undefined): void {
  slot.sentBytes = sent && sent.length <= LARGEST_ARGUMENTS ? sent.length : -1;
  if (!sent || slot.sentBytes < 0) return;
  if (slot.sent.length < sent.length) slot.sent = Buffer.allocUnsafeSlow(2 * sent.length);
  sent.copy(slot.sent);
}

function shown({ id, row, path, ms, sent, sentBytes, unsent, results }: Slot): CallWithArguments {
  return {
    id,
    ...row,
    layers: path.map(({ use, outcome }, at) => ({ use, ms: rounded(ms[at] ?? 0), outcome })),
    sent: sentBytes < 0 ? undefined : asRaw(Buffer.from(sent.subarray(0, sentBytes))),
    unsent,
    results,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
