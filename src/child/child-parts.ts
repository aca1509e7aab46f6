/** What each child gets from the fleet, and the events it reports to it. */
import type { ServerSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import type { Severity } from "../kernel/severity.ts";
import type { BreakerOptions } from "./breaker.ts";
import type { Ask } from "./connection-parts.ts";
import type { HowToLogIn } from "./failure-text.ts";
import type { HandshakeResult } from "./handshake.ts";
import type { Connector } from "./link.ts";
import type { Pool } from "./pool.ts";

export interface ChildParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly breaker: () => BreakerOptions;
  readonly events?: Events | undefined;
  connector(spec: ServerSpec): Promise<Connector>;
  /** The era that a server spoke at its last handshake, if known. */
  eraOf(server: string): string | undefined;
  /** Runs after each handshake. Calls wait until it is done. */
  onHandshake(from: ListSource, handshake: HandshakeResult, ask: Ask): Promise<void>;
  /** One of a child's lists changed. `method` is the notification that said so. */
  onListChanged(from: ListSource, method: string, ask: Ask): void;
  readonly howToLogIn?: HowToLogIn | undefined;
  /** The lowest severity of log messages that a session wants, if it set one. */
  levelOf(session: string): Severity | undefined;
}
