/** Who may hold back tools of a list before anyone sees it. */
import type { ServerId } from "../kernel/call.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { Tool } from "./tool.ts";

export interface JudgedList {
  readonly identity: string;
  readonly tools: readonly Tool[];
  /** The child's own word, not that of an earlier run. */
  readonly live: boolean;
}

export interface Gate {
  /** What it holds back is kept out of use. Else it only notes and tells, which lists of single accounts are spared. */
  readonly enforced: boolean;
  /** The names to hold back, where the list must wait for that; it is asked once per list that says something new. */
  judge(from: ListSource, list: JudgedList): Promise<ReadonlySet<string>> | undefined;
  /** The server has gone, or is another one now. */
  forget(server: ServerId): void;
}
