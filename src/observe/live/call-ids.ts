/**
 * Ids of calls as people see them. A call is a number in its process; where others serve too, its id names
 * the replica.
 */
import { type NamedByReplica, plainId, readPlainId } from "../../kernel/replica-ids.ts";

export class CallIds {
  readonly #replica: string | undefined;

  constructor(replica: string | undefined) {
    this.#replica = replica;
  }

  of(call: number): number | string {
    return this.#replica === undefined ? call : plainId(String(call), this.#replica);
  }

  /** Undefined if it is no id of a call. */
  read(id: string): { readonly call: number } | Required<Pick<NamedByReplica, "elsewhere">> | undefined {
    const named = readPlainId(id, this.#replica);
    if (!named || !/^\d{1,15}$/.test(named.name)) return undefined;
    const { elsewhere, name } = named;
    return elsewhere === undefined ? { call: Number(name) } : { elsewhere };
  }
}
