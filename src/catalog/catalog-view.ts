/** What one client may see of the tools, prompts and resources there are. Surfaces know this, and not where it comes from. */
import type { ServerId } from "../kernel/call.ts";
import type { ListedKind } from "./known-list.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import type { Snapshot } from "./snapshot.ts";

export interface CatalogView {
  /** The same object until something changed; views that show the same share it. */
  readonly snapshot: Snapshot;
  /** Finds only what the view shows. */
  readonly search: Pick<SearchStrategy, "search" | "mostShown">;
  /** The server itself said, to clients like this one, what it has: what is missing is not there. */
  isLive(server: ServerId): boolean;
  /** What is shown of the server came over a connection like this client's, now or in an earlier run. */
  isOwn(server: ServerId): boolean;
  /** Whether it is known what the server has of that kind, be it nothing. */
  knows(server: ServerId, kind: ListedKind): boolean;
  /** Why the server's tools could not be listed when that was last tried. */
  fault(server: ServerId): string | undefined;
  /** Reads what earlier runs saw of servers that are not known yet. Starts none. */
  loadCached(): Promise<void>;
  /** Called after a change that some client can see; returns how to stop that. */
  onChange(listener: () => void): () => void;
}
