/** The interface of a check that can block items of a list before any client sees them. */
import type { ServerId } from "../kernel/call.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { PinnedKind } from "./pins/change.ts";
import type { Pinnable } from "./pins/fingerprint.ts";

export interface JudgedList {
  readonly of: PinnedKind;
  /** Of the server, and different for each kind of list. */
  readonly identity: string;
  readonly items: readonly Pinnable[];
  /** True for a list from a connected child, false for one from the disk cache. */
  readonly live: boolean;
}

export interface Gate {
  /**
   * True if clients do not see what is blocked. Otherwise the gate only records and reports changes, and
   * skips lists of single accounts.
   */
  readonly enforced: boolean;
  /**
   * The names of the items to block, or undefined if the list need not wait for the check. Called once per
   * changed list.
   */
  judge(from: ListSource, list: JudgedList): Promise<ReadonlySet<string>> | undefined;
  /** Called when a server was removed or its identity changed. */
  forget(server: ServerId): void;
}
