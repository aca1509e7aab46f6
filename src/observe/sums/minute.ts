/** What was counted in one minute, by caller and by what was called. In memory, of limited size. */
import type { Counts } from "../../store/sum-rows.ts";
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
  last: number;
};

/** The callers of one group. */
interface Callers {
  readonly byIds: Map<string, Cell>;
  /**
   * By the object that stands for a caller, which is the same for all calls of a session: a text made of ids
   * costs more than the rest of counting.
   */
  readonly byObject: WeakMap<
    CallRow["principal"],
    { readonly client: string | undefined; readonly cell: Cell }
  >;
}

export class Minute {
  readonly at: number;
  /** By group and caller. */
  readonly #cells = new Map<CallGroup, Callers>();
  readonly #tokens = new Map<string, Cell>();
  readonly #durations = new Map<CallGroup, Uint32Array>();
  #callers = 0;

  constructor(at: number) {
    this.at = at;
  }

  *cells(): Iterable<Cell> {
    for (const callers of this.#cells.values()) yield* callers.byIds.values();
    yield* this.#tokens.values();
  }

  get durations(): ReadonlyMap<CallGroup, Uint32Array> {
    return this.#durations;
  }

  cellOf(group: CallGroup, row: CallRow): Cell {
    let callers = this.#cells.get(group);
    if (!callers) {
      callers = { byIds: new Map(), byObject: new WeakMap() };
      this.#cells.set(group, callers);
    }
    const client = row.client?.name;
    const known = callers.byObject.get(row.principal);
    if (known && known.client === client) return known.cell;
    const cell = this.#find(callers.byIds, group, row);
    callers.byObject.set(row.principal, { client, cell });
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

  took(group: CallGroup, bucket: number): void {
    let counts = this.#durations.get(group);
    if (!counts) {
      counts = new Uint32Array(DURATION_BUCKETS);
      this.#durations.set(group, counts);
    }
    counts[bucket] = (counts[bucket] as number) + 1;
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
