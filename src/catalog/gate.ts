/** The interface of a check that can block tools of a list before any client sees them. */
import type { ServerId } from "../kernel/call.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { Tool } from "./tool.ts";

export interface JudgedList {
  readonly identity: string;
  readonly tools: readonly Tool[];
  /** True for a list from a connected child, false for one from the disk cache. */
  readonly live: boolean;
}

export interface Gate {
  /**
   * True if clients do not see blocked tools. Otherwise the gate only records and reports changes, and skips
   * lists of single accounts.
   */
  readonly enforced: boolean;
  /**
   * The names of the tools to block, or undefined if the list need not wait for the check. Called once per
   * changed list.
   */
  judge(from: ListSource, list: JudgedList): Promise<ReadonlySet<string>> | undefined;
  /** Called when a server was removed or its identity changed. */
  forget(server: ServerId): void;
}
