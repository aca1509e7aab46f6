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

/** What is shown of it is made when somebody looks: few calls are ever looked at. */
interface Entry {
  readonly id: number;
  readonly row: CallRow;
  readonly layers: readonly LayerStep[];
  /** As they left the pipeline, each byte a letter: as texts so many short ones cost less than as buffers. */
  readonly sent: string | undefined;
}

const MOST_CALLS = 1_000;
/** Of one call; longer ones are told by their size. */
const LARGEST_ARGUMENTS = 4_096;

export class RecentCalls {
  readonly #ring: Entry[] = [];
  #next = 0;

  add(row: CallRow, { id, trail }: CallEnded): void {
    const { layers, arguments: sent } = trail;
    this.#ring[this.#next] = {
      id,
      row,
      layers,
      sent: sent && sent.length <= LARGEST_ARGUMENTS ? sent.toString("latin1") : undefined,
    };
    this.#next = (this.#next + 1) % MOST_CALLS;
  }

  /** Newest first. */
  *list(): Iterable<KeptCall> {
    const { length } = this.#ring;
    for (let back = 1; back <= length; back++) {
      yield shown(this.#ring[(this.#next - back + length) % length] as Entry);
    }
  }

  get(id: number): KeptCall | undefined {
    const found = this.#ring.find((entry) => entry.id === id);
    return found && shown(found);
  }
}

function shown({ id, row, layers, sent }: Entry): KeptCall {
  const told = layers.map(({ use, ms, outcome }) => ({ use, ms: rounded(ms), outcome }));
  return {
    id,
    ...row,
    layers: told,
    sent: sent === undefined ? undefined : asRaw(Buffer.from(sent, "latin1")),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
