/** Requests that another replica passed on, with what it says about them. */
import type { IncomingMessage } from "node:http";

/** What a replica says about a request that it passed on. */
export interface ForwardedRequest {
  /** The address of the client. */
  readonly address: string;
  /** The id of the replica. */
  readonly from: string;
  /** It gives the session away that the request names. */
  readonly released: boolean;
  /** It came in whole. */
  readonly body: Buffer;
}

const forwarded = new WeakMap<IncomingMessage, ForwardedRequest>();

export function markForwarded(request: IncomingMessage, facts: ForwardedRequest): void {
  forwarded.set(request, facts);
}

/** Undefined if the request came from its client, or from a proxy. */
export function forwardedOf(request: object): ForwardedRequest | undefined {
  return forwarded.get(request as IncomingMessage);
}
