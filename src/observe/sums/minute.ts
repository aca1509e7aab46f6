/** What was counted in one minute, by caller and by what was called. In memory, of limited size. */
import { COUNTERS, type Counts } from "../../store/sum-rows.ts";
import { type CallGroup, OTHER } from "../call-groups.ts";
import type { CallRow, Named } from "../call-schema.ts";
import { DURATION_BUCKETS } from "../live/durations.ts";
import { type CallPlace, OTHER_CALLER } from "./sum-group.ts";

/** Callers that a minute counts separately, by client. */
const MAX_CALLERS = 2_000;
/** Beyond them, callers whatever their client: callers choose its name, and must not crowd out others. */
const MAX_PEOPLE = 1_000;

export type Cell = { -readonly [K in keyof Counts]: number } & {
  readonly place: CallPlace;
  /** 0 if nothing was counted since it was last taken. */
  last: number;
  /** Kept for whoever takes the cells, because finding it costs more than counting. */
  known?: KnownId;
};

/** The id of a group in the store, while these are the same. */
export interface KnownId {
  readonly id: string;
  readonly namespace: Named | undefined;
  readonly among: ReadonlySet<string>;
}

/** What was counted of one group. */
interface Counted {
  readonly byIds: Map<string, Cell>;
  /**
   * By the object that stands for a caller, which is the same for all calls of a session: a text made of ids
   * costs more than the rest of counting.
   */
  readonly byObject: WeakMap<
    CallRow["principal"],
    { readonly client: string | undefined; readonly cell: Cell }
  >;
  readonly times: Times;
}

/** How long calls of a group took, whoever called. */
export interface Times {
  readonly counts: Uint32Array;
  known?: KnownId;
}

export class Minute {
  readonly at: number;
  readonly #groups = new Map<CallGroup, Counted>();
  readonly #tokens = new Map<string, Cell>();
  #callers = 0;

  constructor(at: number) {
    this.at = at;
  }

  /** Cells that counted something. */
  *cells(): Iterable<Cell> {
    for (const { byIds } of this.#groups.values())
      for (const cell of byIds.values()) if (cell.last > 0) yield cell;
    for (const cell of this.#tokens.values()) if (cell.last > 0) yield cell;
  }

  *times(): Iterable<readonly [CallGroup, Times]> {
    for (const [group, { times }] of this.#groups) yield [group, times];
  }

  /** Begins again at 0, with the same cells: making them costs more than counting. */
  reset(): void {
    for (const cell of this.cells()) {
      for (const name of COUNTERS) cell[name] = 0;
      cell.last = 0;
    }
    for (const [, { counts }] of this.times()) counts.fill(0);
  }

  /** `took`: the bucket of its duration. */
  count(group: CallGroup, row: CallRow, took: number): void {
    const counted = this.#groups.get(group) ?? this.#newGroup(group);
    const cell = this.#cellOf(counted, group, row);
    cell.calls += 1;
    if (row.outcome === "error") cell.errors += 1;
    else if (row.outcome === "refused") cell.refused += 1;
    cell.request_bytes += row.requestBytes;
    cell.result_bytes += row.resultBytes;
    cell.last = row.at;
    const { counts } = counted.times;
    counts[took] = (counts[took] as number) + 1;
  }

  #newGroup(group: CallGroup): Counted {
    const counted = {
      byIds: new Map(),
      byObject: new WeakMap(),
      times: { counts: new Uint32Array(DURATION_BUCKETS) },
    };
    this.#groups.set(group, counted);
    return counted;
  }

  #cellOf({ byIds, byObject }: Counted, group: CallGroup, row: CallRow): Cell {
    const client = row.client?.name;
    const known = byObject.get(row.principal);
    if (known && known.client === client) return known.cell;
    const cell = this.#find(byIds, group, row);
    byObject.set(row.principal, { client, cell });
    return cell;
  }

  #find(callers: Map<string, Cell>, group: CallGroup, row: CallRow): Cell {
    const { principal, client } = row;
    const who = `${principal.id} ${principal.key?.id ?? ""} ${principal.actor?.id ?? ""}`;
    const caller = `${who} ${client?.name ?? ""}`;
    const found = callers.get(caller);
    if (found) return found;
    if (this.#callers < MAX_CALLERS) return this.#newCell(callers, caller, placeOf(group, row));
    const known = callers.get(who);
    if (known) return known;
    if (this.#callers < MAX_CALLERS + MAX_PEOPLE)
      return this.#newCell(callers, who, { ...placeOf(group, row), client: OTHER });
    return callers.get("") ?? this.#newCell(callers, "", { ...group, principal: OTHER_CALLER });
  }

  #newCell(callers: Map<string, Cell>, key: string, place: CallPlace): Cell {
    const cell = newCell(place);
    callers.set(key, cell);
    this.#callers += 1;
    return cell;
  }

  tokensOf(endpoint: Named): Cell {
    const key = endpoint.uuid ?? endpoint.name;
    const cell = this.#tokens.get(key) ?? newCell({ endpoint });
    this.#tokens.set(key, cell);
    return cell;
  }
}

/** A call that an administrator tries as somebody else counts as the administrator's. */
function placeOf(group: CallGroup, { principal, client }: CallRow): CallPlace {
  const { actor, key } = principal;
  const { kind, id, name } = actor ?? principal;
  return { ...group, principal: { kind, id, name }, key: actor ? undefined : key, client: client?.name };
}

function newCell(place: CallPlace): Cell {
  return {
    place,
    calls: 0,
    errors: 0,
    refused: 0,
    request_bytes: 0,
    result_bytes: 0,
    tokens_full: 0,
    tokens_shown: 0,
    last: 0,
  };
}
