/** What one connection gets from its owner, and the events it reports to it. */
import type { Origin } from "../kernel/call.ts";
import type { Raw } from "../kernel/raw.ts";
import type { KnownRoots } from "../kernel/roots.ts";
import type { ReportConnection } from "./connection-events.ts";
import type { ConversationParts } from "./conversation.ts";
import type { HandshakeResult } from "./handshake.ts";
import type { Loss } from "./link.ts";
import type { Pool } from "./pool.ts";

export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

export interface ConnectionParts extends Omit<ConversationParts, "claims" | "roots" | "onClosed"> {
  /** The client for which it is opened. Its capabilities are declared to the child. */
  readonly origin: Origin;
  /** The roots of the clients that share it; undefined if they have none or none are known. */
  readonly roots: KnownRoots | undefined;
  /** Resolves when the old process of the same child has ended. The new connection waits for it. */
  readonly after?: Promise<void> | undefined;
  readonly pool: Pool;
  readonly report?: ReportConnection | undefined;
  /** Runs after the handshake. Calls wait until it is done. */
  onHandshake(handshake: HandshakeResult): Promise<void>;
  /** The connection ended by itself. Called before the calls in flight are rejected. */
  onLost(loss: Loss): void;
}
