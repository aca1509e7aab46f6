/** What one connection needs from its owner, and tells it. */
import type { Origin } from "../kernel/call.ts";
import type { Raw } from "../kernel/raw.ts";
import type { KnownRoots } from "../kernel/roots.ts";
import type { ReportConnection } from "./connection-events.ts";
import type { ConversationParts } from "./conversation.ts";
import type { Greeting } from "./handshake.ts";
import type { Loss } from "./link.ts";
import type { Pool } from "./pool.ts";

export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

export interface ConnectionParts extends Omit<ConversationParts, "claims" | "roots" | "onClosed"> {
  /** On whose behalf it is opened: its capabilities are declared to the child. */
  readonly origin: Origin;
  /** The roots of those who share it; undefined where they have none, or none are known. */
  readonly roots: KnownRoots | undefined;
  /** What must be over before it begins: the old process of the same child. */
  readonly after?: Promise<void> | undefined;
  readonly pool: Pool;
  readonly report?: ReportConnection | undefined;
  /** Runs once the handshake is done; calls wait for it. */
  greet(greeting: Greeting): Promise<void>;
  /** It died on its own. Called before the calls in flight hear of it. */
  onLost(loss: Loss): void;
}
