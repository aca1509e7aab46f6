/**
 * Where a server runs that may run only once in a gateway with several replicas. `replica/` knows the place,
 * the links of `child/` follow it.
 */
import type { Agent } from "node:http";
import type { ServerId } from "../../kernel/call.ts";
import type { Signal } from "../../kernel/signal.ts";

export interface Placement {
  /** Waits while the server moves. Rejects only with the reason of the signal. */
  find(server: ServerId, signal: Signal): Promise<Place>;
}

export type Place = PlaceHere | PlaceElsewhere | { readonly at: "nowhere"; readonly reason: string };

export interface PlaceHere {
  readonly at: "here";
  /** This replica may run it now. Compares times only. */
  readonly valid: boolean;
  /** How long a process may run without another `renewed`, even if this process is stopped. */
  readonly leftMs: number;
  /** The same right after `renewed`. */
  readonly guardMs: number;
  /** Call the returned function when nothing is left of the link. */
  join(link: PlacedLink): () => void;
}

export interface PlaceElsewhere {
  readonly at: "replica";
  readonly replica: string;
  /** Where the server is reached, over the channel of this agent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
  join(link: PlacedLink): () => void;
}

/** A link to a server, as far as its place matters. */
export interface PlacedLink {
  /** Requests under way may end. New ones belong on another link. */
  moved(): void;
  /** Nothing of it may run any more. Resolves when nothing of it is left. */
  lost(reason: string): Promise<void>;
  /** This replica may run it for a while longer. */
  renewed?(): void;
}

/** The header that names the credential of a link, for servers with credentials per account. */
export const PLACED_CREDENTIAL = "metamcp-replica-credential";
/** The member of an error between replicas that says why the request failed there. */
export const PLACED_FAILURE = "metamcp/failure";
