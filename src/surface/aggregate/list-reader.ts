/** Answers list requests: from memory, after a short wait for servers that nothing is known of. Says in the log what is missing. */
import type { Unknown } from "../../catalog/catalog-loader.ts";
import type { Origin } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, ListName } from "../surface.ts";
import type { Shelves } from "./merged-list.ts";

/** One slow server delays nobody's list longer than this, and only once. */
const PATIENCE_MS = 3_000;

export class ListReader {
  readonly #scope: Scope;
  readonly #shelvesOf: (asker: Asker) => Shelves;
  /** By list, what was last said to be missing. */
  readonly #missing = new Map<ListName, string>();

  constructor(scope: Scope, shelvesOf: (asker: Asker) => Shelves) {
    this.#scope = scope;
    this.#shelvesOf = shelvesOf;
  }

  async read(list: ListName, { params, origin, listing }: ClientRequest): Promise<Raw> {
    const cursor = cursorOf(params);
    const shelf = this.#shelvesOf(origin)[list];
    if (cursor !== undefined) return shelf.page(cursor);
    const shown = listing?.(list);
    let version: string | undefined;
    try {
      await this.learn(list, origin);
      ({ version } = shelf.list);
      return shelf.page(undefined);
    } finally {
      shown?.(version);
    }
  }

  /** Resolves with the servers that are still unknown. */
  async learn(list: ListName, origin: Origin): Promise<readonly Unknown[]> {
    const servers = [...this.#scope.specs().keys()];
    const unknown = await this.#scope.loader.learn(servers, origin, PATIENCE_MS, list);
    this.#report(list, unknown);
    return unknown;
  }

  /** Not even what clients of another kind are offered is enough: resolves with the servers that are still unknown. */
  async learnOwnTools(origin: Origin): Promise<readonly Unknown[]> {
    const unknown = await this.#scope.loader.learnOwn([...this.#scope.specs().keys()], origin, PATIENCE_MS);
    this.#report("tools", unknown);
    return unknown;
  }

  #report(list: ListName, unknown: readonly Unknown[]): void {
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
  const cursor = raw ? fromRaw(raw) : null;
  if (cursor === null) return undefined;
  if (typeof cursor === "string") return cursor;
  throw RpcError.of(INVALID_PARAMS, "The cursor must be a string");
}
