/**
 * Where the lists of servers are kept for later processes: files in METAMCP_HOME, or something else with this
 * interface.
 */
import type { ServerId } from "../kernel/call.ts";
import type { ListKey } from "../kernel/list-key.ts";
import type { CachedList, ListOwner } from "./cache-file.ts";
import type { ListedKind } from "./known-list.ts";

export interface KeyedList extends CachedList {
  /** Undefined if the list was stored without a key. */
  readonly key: ListKey | undefined;
}

export interface LearnedList {
  readonly server: ServerId;
  readonly identity: string;
  readonly list: KeyedList;
}

export interface ListStorage {
  /** The stored lists for this server and identity, newest first, without invalid entries. Never rejects. */
  read(server: ServerId, identity: string): Promise<readonly KeyedList[]>;
  /**
   * Queues the list and returns at once. Only the last list of an owner is written. `changed`: what a server
   * has just listed; the rest may be older than what another process stored. Default: all.
   */
  write(server: ServerId, owner: ListOwner, list: CachedList, changed?: readonly ListedKind[]): void;
  /** Resolves when everything is written or has failed. */
  flush(): Promise<void>;
  /** The server is no longer configured. */
  forget?(server: ServerId): void;
  /** Calls the listener with each list that another process stored. */
  onLearned?(listener: (learned: LearnedList) => void): void;
}
