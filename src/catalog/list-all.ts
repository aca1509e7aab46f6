/**
 * Reads all pages of a child's list. Limits pages, entries and bytes, and tolerates invalid and duplicate
 * entries.
 */
import type { ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import { visible } from "../kernel/visible.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { elements, joinObject, member } from "../rpc/slice.ts";
import { EntryFaults } from "./entry-faults.ts";
import { isArray } from "./json-array.ts";
import type { Note } from "./repair-rules.ts";

/** One request to a child that has just been connected. */
export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

/** A kind of list: its method, the member of the result, and how one entry is read. */
export interface ListKind<T> {
  readonly method: string;
  readonly member: string;
  /** The member that identifies an entry. */
  readonly key: string;
  /** Undefined for an entry that cannot be used. `note` gets each problem of the entry. */
  readonly read: (server: ServerId, written: Raw, note?: Note) => T | undefined;
  /** Default: the limits of all lists. */
  readonly most?: { readonly entries: number; readonly bytes: number };
}

interface Named {
  readonly name: string;
}

const MAX_PAGES = 1_000;
const MOST = { entries: 50_000, bytes: 134_217_728 } as const;

/** `report` is called, at most once per kind of problem, with problems of a list that is still usable. */
export async function listAll<T extends Named>(
  server: ServerId,
  kind: ListKind<T>,
  ask: Ask,
  report: (problem: string) => void = () => {},
): Promise<readonly T[]> {
  const list = new EntryList(server, kind);
  const seen = new Set<string>();
  let cursor: Raw | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await askPage(ask, kind.method, cursor);
    if (!answer) break;
    const fresh = list.add(answer);
    cursor = nextOf(answer);
    if (!cursor) break;
    const key = cursor.toString();
    if (!seen.has(key)) {
      seen.add(key);
      if (page + 1 === MAX_PAGES) throw list.refused(`has more than ${MAX_PAGES} pages`);
      continue;
    }
    // Some servers return a cursor on every page. A page without new entries is the last one.
    if (fresh > 0) throw list.refused("repeats a cursor, so its pages never end");
    report(`its ${kind.method} returns a cursor after the last page`);
    break;
  }
  for (const problem of list.problems()) report(problem);
  return list.entries;
}

/** Undefined if there is no page: the child lacks the method, or it rejects its own empty cursor. */
async function askPage(ask: Ask, method: string, cursor: Raw | undefined): Promise<Raw | undefined> {
  try {
    return await ask(method, cursor && joinObject([["cursor", cursor]]));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (cursor ? cursor.toString() === '""' : error.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}

function nextOf(answer: Raw): Raw | undefined {
  const cursor = member(answer, "nextCursor");
  return cursor && cursor.toString() !== "null" ? cursor : undefined;
}

class EntryList<T extends Named> {
  readonly #server: ServerId;
  readonly #kind: ListKind<T>;
  readonly #byName = new Map<string, T>();
  #bytes = 0;
  readonly #faults: EntryFaults;
  readonly #duplicates = new Set<string>();

  constructor(server: ServerId, kind: ListKind<T>) {
    this.#server = server;
    this.#kind = kind;
    this.#faults = new EntryFaults(kind.key);
  }

  get entries(): readonly T[] {
    return [...this.#byName.values()];
  }

  /** Returns the number of entries that were not on earlier pages. */
  add(answer: Raw): number {
    const { member: list, read, most = MOST } = this.#kind;
    const written = member(answer, list);
    if (!written || !isArray(written)) throw this.refused(`contains no list of ${list}`);
    const before = this.#byName.size;
    this.#bytes += written.length;
    if (this.#bytes > most.bytes) throw this.refused(`is larger than ${most.bytes} bytes`);
    for (const entry of elements(written))
      this.#take(this.#faults.read(entry, (note) => read(this.#server, entry, note)));
    return this.#byName.size - before;
  }

  #take(entry: T | undefined): void {
    if (!entry) return;
    if (this.#byName.has(entry.name)) this.#duplicates.add(entry.name);
    else this.#byName.set(entry.name, entry);
    const { most = MOST } = this.#kind;
    if (this.#byName.size > most.entries)
      throw this.refused(`has more than ${most.entries} ${this.#kind.member}`);
  }

  problems(): readonly string[] {
    const problems = [...this.#faults.problems(this.#kind.method)];
    if (this.#duplicates.size > 0)
      problems.push(`it lists these twice, the first one is used: ${firstFew(this.#duplicates)}`);
    return problems;
  }

  refused(fault: string): MetaMcpError {
    const { method } = this.#kind;
    return new MetaMcpError("execution_failed", `The ${method} of "${this.#server}" ${fault}.`, {
      server: this.#server,
      op: method,
    });
  }
}

function firstFew(names: ReadonlySet<string>): string {
  const some = [...names]
    .slice(0, 5)
    .map((name) => visible(name, 100))
    .join(", ");
  return names.size > 5 ? `${some} and ${names.size - 5} more` : some;
}
