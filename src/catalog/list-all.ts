/** All pages of one of a child's lists. Trusts no child to end, to be tidy, or to be small. */
import type { ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { elements, joinObject, member } from "../rpc/slice.ts";
import { isArray } from "./json-array.ts";

/** One request to a child that has just been connected. */
export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

/** What is listed: by which method, under which member, and how one entry is read. */
export interface ListKind<T> {
  readonly method: string;
  readonly member: string;
  /** Undefined for what nobody could ever ask for. */
  readonly read: (server: ServerId, written: Raw) => T | undefined;
}

interface Named {
  readonly name: string;
}

const MOST_PAGES = 1_000;
const MOST_ENTRIES = 50_000;
const MOST_BYTES = 134_217_728;

/** `report` hears, at most once per kind, what was wrong with a list that could be used all the same. */
export async function listAll<T extends Named>(
  server: ServerId,
  kind: ListKind<T>,
  ask: Ask,
  report: (problem: string) => void = () => {},
): Promise<readonly T[]> {
  const list = new EntryList(server, kind);
  const seen = new Set<string>();
  let cursor: Raw | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await askPage(ask, kind.method, cursor);
    if (!answer) break;
    const fresh = list.add(answer);
    cursor = nextOf(answer);
    if (!cursor) break;
    const key = cursor.toString();
    if (!seen.has(key)) {
      seen.add(key);
      if (page + 1 === MOST_PAGES) throw list.refused(`has more than ${MOST_PAGES} pages`);
      continue;
    }
    // Some servers always give a cursor; a page without anything unknown was their end.
    if (fresh > 0) throw list.refused("repeats a cursor, so its pages never end");
    report(`its ${kind.method} returns a cursor after the last page`);
    break;
  }
  for (const problem of list.problems()) report(problem);
  return list.entries;
}

/** Undefined where the child means that there is nothing: it has no such list, or its empty cursor was none. */
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
  #nameless = 0;
  readonly #twice = new Set<string>();

  constructor(server: ServerId, kind: ListKind<T>) {
    this.#server = server;
    this.#kind = kind;
  }

  get entries(): readonly T[] {
    return [...this.#byName.values()];
  }

  /** Returns how many were not known from earlier pages. */
  add(answer: Raw): number {
    const { member: list, read } = this.#kind;
    const written = member(answer, list);
    if (!written || !isArray(written)) throw this.refused(`contains no list of ${list}`);
    const before = this.#byName.size;
    this.#bytes += written.length;
    if (this.#bytes > MOST_BYTES) throw this.refused(`is larger than ${MOST_BYTES} bytes`);
    for (const entry of elements(written)) this.#take(read(this.#server, entry));
    return this.#byName.size - before;
  }

  #take(entry: T | undefined): void {
    if (!entry) this.#nameless += 1;
    else if (this.#byName.has(entry.name)) this.#twice.add(entry.name);
    else this.#byName.set(entry.name, entry);
    if (this.#byName.size > MOST_ENTRIES)
      throw this.refused(`has more than ${MOST_ENTRIES} ${this.#kind.member}`);
  }

  problems(): readonly string[] {
    const { method, member } = this.#kind;
    const problems: string[] = [];
    if (this.#nameless > 0) problems.push(`${this.#nameless} entries of its ${method} are not ${member}`);
    if (this.#twice.size > 0)
      problems.push(`it lists these twice, the first one is used: ${someOf(this.#twice)}`);
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

function someOf(names: ReadonlySet<string>): string {
  const some = [...names].slice(0, 5).join(", ");
  return names.size > 5 ? `${some} and ${names.size - 5} more` : some;
}
