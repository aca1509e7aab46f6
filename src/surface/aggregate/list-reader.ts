/**
 * Answers list requests from memory, after a short wait for servers whose lists are not known. Logs which
 * servers are missing.
 */
import type { UnknownServer } from "../../catalog/catalog-loader.ts";
import type { Origin } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { type Raw, scalarOf } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest, ListName } from "../surface.ts";
import type { MergedLists } from "./merged-list.ts";

/** A slow server delays a list at most this long, and only once. */
const LIST_WAIT_MS = 3_000;

export class ListReader {
  readonly #scope: ScopeCatalog & ScopeFacts;
  readonly #listsOf: (asker: Asker) => MergedLists;
  /** For each list, the missing servers that were logged last. */
  readonly #missing = new Map<ListName, string>();

  constructor(scope: ScopeCatalog & ScopeFacts, listsOf: (asker: Asker) => MergedLists) {
    this.#scope = scope;
    this.#listsOf = listsOf;
  }

  async read(list: ListName, { params, origin, listing }: ClientRequest): Promise<Raw> {
    const cursor = cursorOf(params);
    const merged = this.#listsOf(origin)[list];
    if (cursor !== undefined) return merged.page(cursor, origin.era2026);
    const listed = listing?.(list);
    let version: string | undefined;
    try {
      await this.loadMissing(list, origin);
      ({ version } = merged.list);
      return merged.page(undefined, origin.era2026);
    } finally {
      listed?.(version);
    }
  }

  /** Loads unknown lists. Resolves with the servers whose lists are still unknown. */
  async loadMissing(list: ListName, origin: Origin): Promise<readonly UnknownServer[]> {
    const servers = [...this.#scope.specs().keys()];
    const unknown = await this.#scope.loader.loadMissing(servers, origin, LIST_WAIT_MS, list);
    this.#report(list, unknown);
    return unknown;
  }

  /**
   * Like `loadMissing` for tools, but a list that the server gave to other clients does not count as known.
   */
  async loadMissingOwnTools(origin: Origin): Promise<readonly UnknownServer[]> {
    const unknown = await this.#scope.loader.loadMissingOwn(
      [...this.#scope.specs().keys()],
      origin,
      LIST_WAIT_MS,
    );
    this.#report("tools", unknown);
    return unknown;
  }

  #report(list: ListName, unknown: readonly UnknownServer[]): void {
    const missing = unknown.map(({ server }) => server).join(", ");
    if (missing === (this.#missing.get(list) ?? "")) return;
    this.#missing.set(list, missing);
    if (missing === "") this.#scope.log.info(`the list of ${list} is complete`);
    for (const { server, reason } of unknown)
      this.#scope.log.warn(`the list of ${list} does not include ${server}: ${reason}`, { server });
  }
}

function cursorOf(params: Raw | undefined): string | undefined {
  const [raw] = params ? members(params, ["cursor"]) : [];
  const cursor = raw ? scalarOf(raw) : null;
  if (cursor === null) return undefined;
  if (typeof cursor === "string") return cursor;
  throw RpcError.of(INVALID_PARAMS, "The cursor must be a string");
}
