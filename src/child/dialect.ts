/** How a child is spoken to once it is known which protocol era it speaks. One per connection. */
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Peer } from "../rpc/peer.ts";
import { withoutRelatedTask } from "../rpc/task.ts";
import type { Claim } from "./claim.ts";
import type { Greeting } from "./handshake.ts";

export interface Dialect {
  /** All is ready to hear what the child says of itself. */
  begin(greeting: Greeting): void;
  /** A request of a caller. Rejects with RpcError, ChildFailure, or what it was cancelled with. */
  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw>;
  /** A request of our own. */
  ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw>;
  notify(method: string, params: Raw | undefined): void;
  /** What of a notification is for others; undefined for what is between us and the child. */
  heard(method: string, params: Raw | undefined): { readonly params: Raw | undefined } | undefined;
  /** Gives a caller's request up with `error` and tells the child. */
  cancel(claim: Claim, error: Error): void;
  end(failure: Error): void;
}

interface Carried {
  readonly method: string;
  readonly params: Raw;
  /** Its progress goes on after the answer. */
  readonly lasting?: boolean;
}

/** Sends a caller's request as it is; what comes of it on the way goes to the caller. */
export function carry(
  peer: Peer,
  claim: Claim,
  { method, params, lasting = false }: Carried,
  signal: Signal,
): Promise<Raw> {
  return peer.request(method, params, {
    signal,
    lasting,
    onProgress: (progress) => {
      claim.timer?.touch();
      claim.uplink.notify("notifications/progress", withoutRelatedTask(progress));
    },
    onSent: (id) => {
      claim.id = id;
    },
  });
}
