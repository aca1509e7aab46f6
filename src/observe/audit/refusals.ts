/**
 * Counts equal refusals of one caller, and equal connections of one server. The first few are recorded at
 * once, the others of a second become one record with their number: whoever tries again and again must not be
 * able to fill the log, and so decide what it keeps.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { OwnedRecord } from "./audit-log.ts";

export interface Refusal {
  readonly owner: string;
  /** The same for equal refusals of the owner. */
  readonly kind: string;
  readonly at: number;
  readonly record: () => OwnedRecord;
}

interface Counted {
  /** In this second. The first `MAX_SINGLE` have records of their own. */
  seen: number;
  /** Without a record yet. */
  count: number;
  from: number;
  to: number;
  /** Of the first one without a record. */
  record: OwnedRecord | undefined;
}

const EVERY_MS = 1_000;
/** Kinds of refusals of one owner that are counted apart. The others are counted together. */
const MAX_KINDS = 20;
const MAX_SINGLE = 5;
const OTHER_KINDS = "*";

export class Refusals {
  readonly #clock: Clock;
  readonly #add: (record: OwnedRecord) => void;
  readonly #owners = new Map<string, Map<string, Counted>>();
  #timer: Timer | undefined;

  constructor(clock: Clock, add: (record: OwnedRecord) => void) {
    this.#clock = clock;
    this.#add = add;
  }

  add({ owner, kind, at, record }: Refusal): void {
    const kinds = this.#owners.get(owner) ?? new Map<string, Counted>();
    if (kinds.size === 0) this.#owners.set(owner, kinds);
    const apart = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : OTHER_KINDS;
    const counted = kinds.get(apart) ?? { seen: 0, count: 0, from: at, to: at, record: undefined };
    if (counted.seen === 0) kinds.set(apart, counted);
    counted.seen += 1;
    if (counted.seen <= MAX_SINGLE) this.#add(record());
    else {
      if (counted.count === 0) {
        counted.from = at;
        counted.record = record();
      }
      counted.count += 1;
      counted.to = at;
    }
    this.#timer ??= this.#clock.after(EVERY_MS, () => this.flush());
  }

  /** Records what was counted. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const kinds of this.#owners.values())
      for (const [kind, { record, ...counted }] of kinds)
        if (record) this.#add(summary(record, counted, kind === OTHER_KINDS));
    this.#owners.clear();
  }
}

/** Its other members are those of the first of them. */
function summary(
  record: OwnedRecord,
  { count, from, to }: Pick<Counted, "count" | "from" | "to">,
  various: boolean,
): OwnedRecord {
  const more = `,"count":${count},"since":"${new Date(from).toISOString()}"${various ? ',"various":true' : ""}}`;
  return { ...record, at: to, body: `${record.body.slice(0, -1)}${more}` };
}
