/** The part of the catalog that one client sees. Surfaces depend on this interface, not on the catalog. */
import type { ServerId } from "../kernel/call.ts";
import type { ListedKind } from "./known-list.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import type { Snapshot } from "./snapshot.ts";

export interface CatalogView {
  /** The same object until something changes. Views with equal content share it. */
  readonly snapshot: Snapshot;
  /** Finds only tools of this view. */
  readonly search: Pick<SearchStrategy, "search" | "mostShown">;
  /**
   * True if the server has listed its tools over a connection of this client's list key. A tool that is
   * missing then does not exist.
   */
  isLive(server: ServerId): boolean;
  /**
   * True if the visible list of the server came over this client's list key, in this process or an earlier
   * one.
   */
  isOwn(server: ServerId): boolean;
  /** Whether the server's list of that kind is known; it may be empty. */
  knows(server: ServerId, kind: ListedKind): boolean;
  /** Why the last attempt to list the server's tools failed. */
  fault(server: ServerId): string | undefined;
  /** Reads the disk cache of servers that are not known yet. Starts no server. */
  loadCached(): Promise<void>;
  /** Called after a change that some client can see. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}
