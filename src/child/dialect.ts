/** How to speak to a child of one protocol era, after the handshake. One object per connection. */
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Peer } from "../rpc/peer.ts";
import { withoutRelatedTask } from "../rpc/task.ts";
import type { Claim } from "./claim.ts";
import type { HandshakeResult } from "./handshake.ts";

export interface Dialect {
  /** The connection is ready to receive messages of the child. */
  begin(handshake: HandshakeResult): void;
  /** Sends a request of a caller. Rejects with RpcError, ChildFailure or the reason of the cancellation. */
  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw>;
  /** Sends a request of MetaMCP itself. */
  ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw>;
  notify(method: string, params: Raw | undefined): void;
  /** The part of a notification that clients may see; undefined if it is only for MetaMCP. */
  forClients(method: string, params: Raw | undefined): { readonly params: Raw | undefined } | undefined;
  /** Rejects a caller's request with `error` and tells the child. */
  cancel(claim: Claim, error: Error): void;
  end(failure: Error): void;
}

interface CallRequest {
  readonly method: string;
  readonly params: Raw;
  /** Progress may come after the answer. */
  readonly lasting?: boolean;
}

/** Sends a caller's request unchanged, and forwards its progress to the caller. */
export function sendCall(
  peer: Peer,
  claim: Claim,
  { method, params, lasting = false }: CallRequest,
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
